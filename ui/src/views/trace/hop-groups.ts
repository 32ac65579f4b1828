/** Hops of a trace by the devices that they pass, and names of devices. */
import type { Hop, PairTrace } from '#documents/pair-trace.ts';

export interface HopGroup {
  readonly device: string;
  readonly hops: readonly Hop[];
}

/** In order: a device that is passed twice has two groups. */
export function hopGroups(hops: readonly Hop[]): HopGroup[] {
  const groups: { device: string; hops: Hop[] }[] = [];
  for (const hop of hops) {
    const last = groups.at(-1);
    if (last?.device === hop.device) last.hops.push(hop);
    else groups.push({ device: hop.device, hops: [hop] });
  }
  return groups;
}

/** Names of interfaces and ACLs contain the ID of a container, too long to read. */
export function shortened(text: string): string {
  return text.replaceAll(/([0-9a-f]{8})[0-9a-f]{4,}(-[0-9a-f]{16})?/g, '$1…');
}

/** Names of pods by their devices, as far as the trace shows them: the first and the last one. */
export function podsOfDevices({ from, to, paths }: PairTrace): ReadonlyMap<string, string> {
  const pods = new Map<string, string>();
  for (const { trace } of paths) {
    const first = trace.hops[0];
    const last = trace.hops.at(-1);
    if (first && from.kind === 'pod') pods.set(first.device, from.name);
    if (last && to.kind === 'pod' && trace.verdict === 'delivered') pods.set(last.device, to.name);
  }
  return pods;
}

/** @param device `node1/vpp`, `node1/host` or `node1//run/netns/…` */
export function deviceName(device: string): string {
  const slash = device.indexOf('/');
  const node = device.slice(0, slash);
  const part = device.slice(slash + 1);
  if (part === 'vpp') return `VPP of ${node}`;
  if (part === 'host') return `Host ${node}`;
  return `Network namespace ${part} on ${node}`;
}

/** `50 %`, `33.3 %`. */
export function shareText(share: number): string {
  return `${Number((share * 100).toFixed(1))} %`;
}
