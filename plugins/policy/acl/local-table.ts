/** The table of a pod: who may reach it, of which the egress policies of the other pods of the node are a part. */
import { type AddressNumber, AddressSet } from '../address-set.ts';
import { type PodPolicy, type PolicyName, type RuleList, withoutPolicies } from '../pod-policy.ts';
import type { PortSet } from '../port-set.ts';
import {
  commonPorts,
  type Decisions,
  egressDecisions,
  ingressDecisions,
  portsFor,
} from './decisions.ts';
import { matchesAll, mergedEntries, type PeerPorts } from './merged-entries.ts';
import { denyAll, permitAll, type Table, type TableEntry, withoutRedundantEnd } from './table.ts';

/** A pod of this node that egress policies restrict. */
export interface Sender {
  readonly addresses: readonly AddressNumber[];
  readonly decisions: Decisions;
}

/** @param node a NetworkPolicy lets each pod reach it */
export function senderOf(
  { addresses, egress }: PodPolicy,
  without: ReadonlySet<PolicyName>,
  node: AddressSet,
): Sender {
  return { addresses, decisions: egressDecisions(withoutPolicies(egress, without), node) };
}

/**
 * @param nodeAddresses sources that always reach the pods of this node
 * @param senders all pods of this node that egress policies restrict. The pod itself may be one of them: then
 *   equal pods have equal tables.
 */
export function localTable(
  pod: Pick<PodPolicy, 'addresses'>,
  ingress: RuleList,
  nodeAddresses: AddressSet,
  senders: readonly Sender[],
): Table {
  const decisions = ingressDecisions(ingress);
  return withoutRedundantEnd([
    { ...permitAll, sources: nodeAddresses },
    ...senderEntries(pod, senders, (address) => portsFor(decisions, address)),
    ...decisions.runs.flatMap(({ action, entries }) =>
      entries.map(
        ({ peers, ports }): TableEntry => ({ ...permitAll, action, sources: peers, ports }),
      ),
    ),
    ...(decisions.runs.at(-1)?.entries.some(matchesAll) ? [] : [permitAll]),
  ]);
}

/** The part of the ports that the pod itself permits other pods of this node which their egress policies leave. */
function senderEntries(
  { addresses }: Pick<PodPolicy, 'addresses'>,
  senders: readonly Sender[],
  ownPorts: (address: AddressNumber) => PortSet,
): TableEntry[] {
  const limited: PeerPorts[] = [];
  for (const sender of senders) {
    for (const from of sender.addresses) {
      const own = ownPorts(from);
      if (own.isEmpty) continue;
      const ports = addresses
        .filter((to) => typeof to === typeof from)
        .map((to) => portsFor(sender.decisions, to))
        .reduce(commonPorts, own);
      if (ports === own || ports.text === own.text) continue;
      limited.push({ peers: AddressSet.ofAddresses([from]), ports });
    }
  }
  // all but some ports
  const complements = limited.filter(({ ports }) => ports.isComplement);
  const others = limited.filter(({ ports }) => !ports.isComplement);
  const denied = complements.map(({ peers, ports }) => ({ peers, ports: ports.complement() }));
  return [
    ...sourceEntries('permit', others),
    ...sourcesOf(others).map((sources) => ({ ...denyAll, sources })),
    ...sourceEntries('deny', denied),
    ...sourcesOf(complements).map((sources) => ({ ...permitAll, sources })),
  ];
}

function sourceEntries(action: TableEntry['action'], entries: readonly PeerPorts[]): TableEntry[] {
  return mergedEntries(entries).map(({ peers, ports }) => ({
    ...permitAll,
    action,
    sources: peers,
    ports,
  }));
}

/** None, or all in one set. */
function sourcesOf(entries: readonly PeerPorts[]): AddressSet[] {
  return entries.length === 0 ? [] : [AddressSet.union(entries.map(({ peers }) => peers))];
}
