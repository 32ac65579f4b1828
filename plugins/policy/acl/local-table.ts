/** The table of a pod: who may reach it, of which the egress policies of the other pods of the node are a part. */
import { type AddressNumber, AddressSet } from '../address-set.ts';
import {
  type Isolation,
  isIsolated,
  type PodPolicy,
  type PolicyName,
  withoutPolicies,
} from '../pod-policy.ts';
import { PortSet } from '../port-set.ts';
import { mergedPermits, type PeerPorts } from './merged-permits.ts';
import { commonPorts, portsFor } from './permitted-ports.ts';
import { denyAll, permitAll, type Table, type TableEntry, withoutRedundantEnd } from './table.ts';

/** A pod of this node that egress policies isolate. */
export interface EgressIsolatedPod {
  readonly addresses: readonly AddressNumber[];
  readonly permits: readonly PeerPorts[];
}

export function egressIsolated(
  { addresses, egress }: PodPolicy,
  without: ReadonlySet<PolicyName>,
): EgressIsolatedPod {
  return { addresses, permits: mergedPermits(withoutPolicies(egress, without).permits) };
}

/**
 * @param nodeAddresses sources that always reach the pods of this node
 * @param senders all pods of this node that egress policies isolate. The pod itself may be one of them: then
 *   equal pods have equal tables.
 */
export function localTable(
  pod: Pick<PodPolicy, 'addresses'>,
  ingress: Isolation,
  nodeAddresses: AddressSet,
  senders: readonly EgressIsolatedPod[],
): Table {
  const isOpen = !isIsolated(ingress);
  const permits = isOpen ? [] : mergedPermits(ingress.permits);
  const ownPorts = (address: AddressNumber): PortSet =>
    isOpen ? PortSet.any : portsFor(permits, address);
  return withoutRedundantEnd([
    { ...permitAll, sources: nodeAddresses },
    ...senderEntries(pod, senders, ownPorts),
    ...permits.map(({ peers, ports }): TableEntry => ({ ...permitAll, sources: peers, ports })),
    isOpen ? permitAll : denyAll,
  ]);
}

/** The part of the ports that the pod itself permits other pods of this node which their egress policies leave. */
function senderEntries(
  { addresses }: Pick<PodPolicy, 'addresses'>,
  senders: readonly EgressIsolatedPod[],
  ownPorts: (address: AddressNumber) => PortSet,
): TableEntry[] {
  const limited: AddressNumber[] = [];
  const permitted: PeerPorts[] = [];
  for (const sender of senders) {
    for (const from of sender.addresses) {
      const own = ownPorts(from);
      if (own.isEmpty) continue;
      const ports = addresses
        .filter((to) => typeof to === typeof from)
        .map((to) => portsFor(sender.permits, to))
        .reduce(commonPorts, own);
      if (ports === own || ports.text === own.text) continue;
      limited.push(from);
      if (!ports.isEmpty) permitted.push({ peers: AddressSet.ofAddresses([from]), ports });
    }
  }
  if (limited.length === 0) return [];
  return [
    ...mergedPermits(permitted).map(
      ({ peers, ports }): TableEntry => ({ ...permitAll, sources: peers, ports }),
    ),
    { ...denyAll, sources: AddressSet.ofAddresses(limited) },
  ];
}
