/** Fewer entries with the same meaning. */
import { AddressSet } from '../address-set.ts';
import type { PolicyRule } from '../pod-policy.ts';
import { PortSet } from '../port-set.ts';
import { prefixLists } from './prefix-lists.ts';

/** Peers, and the ports for each of them. */
export type PeerPorts = Pick<PolicyRule, 'peers' | 'ports'>;

/**
 * Of one action. Peers with the same ports are united, then ports of the same peers: never more rules than before. Sorted:
 * the order of the entries does not matter.
 */
export function mergedEntries(entries: readonly PeerPorts[]): readonly PeerPorts[] {
  const byPorts = [...Map.groupBy(entries.filter(isNotEmpty), ({ ports }) => ports.text).values()];
  const united = byPorts.map((same) => ({
    peers: AddressSet.union(same.map(({ peers }) => peers)),
    ports: (same[0] as PeerPorts).ports,
  }));
  const byPeers = [...Map.groupBy(united, ({ peers }) => prefixLists(peers).text)];
  return withoutCovered(
    byPeers
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([, same]) => ({
        peers: (same[0] as PeerPorts).peers,
        ports: PortSet.union(same.map(({ ports }) => ports)),
      })),
  );
}

/** Equal for equal entries. */
export function entriesText(entries: readonly PeerPorts[]): string {
  return entries.map(({ peers, ports }) => `${prefixLists(peers).text} ${ports.text}`).join('\n');
}

export function matchesAll({ peers, ports }: PeerPorts): boolean {
  return ports.isAny && peers.equals(AddressSet.any);
}

function isNotEmpty({ peers, ports }: PeerPorts): boolean {
  return !peers.isEmpty && !ports.isEmpty;
}

/** Without what an entry for every port, or one for every peer, contains. */
function withoutCovered(entries: readonly PeerPorts[]): readonly PeerPorts[] {
  const everyPort = entries.find(({ ports }) => ports.isAny);
  const everyPeer = entries.find(({ peers }) => peers.equals(AddressSet.any));
  return entries.filter((entry) => {
    const { peers, ports } = entry;
    if (everyPort !== undefined && entry !== everyPort && peers.minus(everyPort.peers).isEmpty)
      return false;
    if (everyPeer === undefined || entry === everyPeer) return true;
    return PortSet.union([everyPeer.ports, ports]).text !== everyPeer.ports.text;
  });
}
