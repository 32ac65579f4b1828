/** Fewer permits with the same meaning. */
import { AddressSet } from '../address-set.ts';
import type { Permit } from '../pod-policy.ts';
import { PortSet } from '../port-set.ts';
import { prefixLists } from './prefix-lists.ts';

/** Peers and the ports that are permitted for each of them. */
export type PeerPorts = Pick<Permit, 'peers' | 'ports'>;

const merged = new WeakMap<readonly PeerPorts[], readonly PeerPorts[]>();

/**
 * Peers with the same ports are united, then ports of the same peers: never more rules than before. Sorted: the
 * order of the permits does not matter. The result of a list is kept as long as the list.
 */
export function mergedPermits(permits: readonly PeerPorts[]): readonly PeerPorts[] {
  const known = merged.get(permits);
  if (known !== undefined) return known;
  const byPorts = [...Map.groupBy(permits.filter(isNotEmpty), ({ ports }) => ports.text).values()];
  const united = byPorts.map((same) => ({
    peers: AddressSet.union(same.map(({ peers }) => peers)),
    ports: (same[0] as PeerPorts).ports,
  }));
  const byPeers = [...Map.groupBy(united, ({ peers }) => prefixLists(peers).text)];
  const result = withoutCovered(
    byPeers
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([, same]) => ({
        peers: (same[0] as PeerPorts).peers,
        ports: PortSet.union(same.map(({ ports }) => ports)),
      })),
  );
  merged.set(permits, result);
  return result;
}

function isNotEmpty({ peers, ports }: PeerPorts): boolean {
  return !peers.isEmpty && !ports.isEmpty;
}

/** Without what a permit for every port, or one for every peer, contains. */
function withoutCovered(permits: readonly PeerPorts[]): readonly PeerPorts[] {
  const everyPort = permits.find(({ ports }) => ports.isAny);
  const everyPeer = permits.find(({ peers }) => peers.equals(AddressSet.any));
  return permits.filter((permit) => {
    const { peers, ports } = permit;
    if (everyPort !== undefined && permit !== everyPort && peers.minus(everyPort.peers).isEmpty)
      return false;
    if (everyPeer === undefined || permit === everyPeer) return true;
    return PortSet.union([everyPeer.ports, ports]).text !== everyPeer.ports.text;
  });
}
