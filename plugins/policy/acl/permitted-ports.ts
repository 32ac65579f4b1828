/** Ports that permits contain for single addresses: for each pair of pods of a node, with each change. */
import type { AddressNumber } from '../address-set.ts';
import { PortSet } from '../port-set.ts';
import type { PeerPorts } from './merged-permits.ts';

const byPermits = new WeakMap<readonly PeerPorts[], Map<AddressNumber, PortSet>>();
const intersections = new WeakMap<PortSet, WeakMap<PortSet, PortSet>>();

/** Kept as long as the permits. */
export function portsFor(permits: readonly PeerPorts[], address: AddressNumber): PortSet {
  const known = byPermits.get(permits) ?? new Map<AddressNumber, PortSet>();
  byPermits.set(permits, known);
  const before = known.get(address);
  if (before !== undefined) return before;
  const found = permits.filter(({ peers }) => peers.has(address)).map(({ ports }) => ports);
  const ports = PortSet.union(found);
  known.set(address, ports);
  return ports;
}

/** Kept as long as both sets. */
export function commonPorts(a: PortSet, b: PortSet): PortSet {
  if (a === b || b.isAny) return a;
  if (a.isAny) return b;
  const known = intersections.get(a) ?? new WeakMap<PortSet, PortSet>();
  intersections.set(a, known);
  const common = known.get(b) ?? a.intersect(b);
  known.set(b, common);
  return common;
}
