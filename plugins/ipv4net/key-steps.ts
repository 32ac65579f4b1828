/**
 * The steps by which a key of this node is replaced without the loss of a packet. Two nodes have two sessions, each by the keys of
 * one slot. A node announces that the packets of a slot are to take the other one, replaces its key when they do, and
 * announces the end when the new sessions are there. What has begun is on the disk, so that it continues after a crash.
 *
 * In the same two minutes all nodes replace keys of one slot only: no two nodes leave each other without a session, and
 * none of them has to ask another one.
 */
import type { OwnKeys, Slot } from '#plugins/controller/api/ports/wireguard-keys.ts';

/** Milliseconds. */
export const keyTiming = {
  /** In which keys of one slot may be replaced, by the wall clock. */
  window: 120_000,
  /** From its beginning, in which a replacement begins. The rest is for clocks that differ. */
  begin: 40_000,
  /** In which the other nodes read what was announced, and change their routes. */
  drain: 10_000,
  /** After which a replacement ends although a session is missing: its node may be off. */
  overlap: 40_000,
} as const;

export type KeyStep =
  | { readonly kind: 'begin' | 'replace'; readonly slot: Slot }
  | { readonly kind: 'end' };

export interface KeySituation {
  /** Milliseconds since the epoch, by the wall clock. */
  readonly now: number;
  /** Milliseconds; 0: keys are replaced only by command. */
  readonly lifetime: number;
  /** How long the other nodes can read the last step; undefined: they cannot. */
  readonly publishedFor: number | undefined;
  /** Whether the sessions of a slot with all nodes are established. */
  hasSessions(slot: Slot): boolean;
  /** Whether a node has a session by this slot alone. */
  hasOnlySessions(slot: Slot): boolean;
}

/** The step that is due now; undefined: none. */
export function nextKeyStep(own: OwnKeys, situation: KeySituation): KeyStep | undefined {
  const { now, publishedFor } = situation;
  const current = slotOfWindow(now);
  const elapsed = now % keyTiming.window;
  const { replacement } = own;
  if (replacement === undefined) {
    const mayBegin = elapsed < keyTiming.begin && isDue(own, current, situation);
    return mayBegin ? { kind: 'begin', slot: current } : undefined;
  }
  if (publishedFor === undefined) return undefined;
  const { slot, isNew } = replacement;
  if (!isNew) {
    const isInWindow = slot === current && elapsed < keyTiming.begin + 2 * keyTiming.drain;
    return isInWindow && publishedFor >= keyTiming.drain ? { kind: 'replace', slot } : undefined;
  }
  const isOver = publishedFor >= keyTiming.overlap || situation.hasSessions(slot);
  return isOver ? { kind: 'end' } : undefined;
}

export function slotOfWindow(now: number): Slot {
  return Math.floor(now / keyTiming.window) % 2 === 0 ? 0 : 1;
}

/**
 * The agent of another node that reads nothing any more, while its VPP forwards, has lost the session of a key that was replaced
 * since: the other key lives for a second lifetime then.
 */
function isDue({ keys }: OwnKeys, slot: Slot, situation: KeySituation): boolean {
  const { made, publicKey, isUnwanted } = keys[slot];
  if (isUnwanted) return true;
  // of a key that a clock of another year has made, the age is not known
  const lifetimes = Math.abs(situation.now - made) / (situation.lifetime * spread(publicKey));
  if (situation.lifetime === 0 || lifetimes < 1) return false;
  return lifetimes >= 2 || !situation.hasOnlySessions(slot);
}

/** 0.9 to 1: nodes that were started together replace their keys one after the other. */
function spread(publicKey: string): number {
  const [first = 0] = Buffer.from(publicKey, 'base64');
  return 0.9 + (0.1 * first) / 255;
}
