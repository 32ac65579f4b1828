/** Membership of a bridge, and what it does not forward. */
import type { Bridge, Device } from './snapshot.ts';

export function bridgeOf({ bridges }: Device, member: string): Bridge | undefined {
  return bridges.find(({ members }) => members.some((one) => one.interface === member));
}

/** Why a bridge does not forward a frame from one member to another; undefined: it does. */
export function forwardingBlock(
  { members, routed }: Bridge,
  from: string,
  to: string,
): string | undefined {
  if (from === to) return `the frame entered by ${to}`;
  const groupOf = (name: string) => members.find((one) => one.interface === name)?.group ?? 0;
  // The BVI is in no group.
  const isSame = from !== routed && groupOf(from) !== 0 && groupOf(from) === groupOf(to);
  return isSame ? `${from} and ${to} are in one split-horizon group` : undefined;
}
