/** The ACLs at the interface of a pod. */
import type { KeyValue } from '#plugins/controller/api/key-value.ts';
import { AddressSet, familyOf } from '../address-set.ts';
import { type PodPolicy, type PolicyRule, withoutPolicies } from '../pod-policy.ts';
import type { CheckedAddress, RenderedPod } from '../rendered-state.ts';
import { podAclNames } from './acl-names.ts';
import { ruleCount } from './acl-rules.ts';
import { boundAcls } from './bound-acls.ts';
import { deniedPorts, deniedRuleCount, deniedRules, widened } from './exceptional-rules.ts';
import type { KeptConnection } from './kept-connections.ts';
import { localTable, senderOf } from './local-table.ts';
import type { Omissions } from './omissions.ts';
import { policiesWithSctpPorts, withinLimit } from './rule-limit.ts';
import { isPermitAll } from './table.ts';

/** The rest of the node, as far as the tables of pods depend on it. */
export interface AclSurroundings {
  /** Ends that always reach the pods of this node, and are reached by them. */
  readonly nodeAddresses: AddressSet;
  /** The pods of this node that egress policies restrict. */
  readonly senders: readonly PodPolicy[];
  /** Of one table. */
  readonly maxRules: number;
}

export interface PodAcls {
  readonly values: readonly KeyValue[];
  readonly hasTable: boolean;
  readonly omissions: Omissions;
}

/**
 * @param denied addresses of services that the pod may not use
 * @param kept connections that were open before the interface had a table
 */
export function podAcls(
  { policy, interface: name }: RenderedPod,
  denied: readonly CheckedAddress[],
  kept: readonly KeptConnection[],
  { nodeAddresses, senders, maxRules }: AclSurroundings,
): PodAcls {
  const { ingress } = policy;
  const hasIpv6 = policy.addresses.some((address) => familyOf(address) === 6);
  const { result: table, omitted } = withinLimit(
    () => [...ingress.rules, ...senders.flatMap((sender) => rulesAbout(policy, sender))],
    (without) =>
      localTable(
        policy,
        withoutPolicies(ingress, without),
        nodeAddresses,
        senders.map((sender) => senderOf(sender, without, nodeAddresses)),
      ),
    (found) => ruleCount(found, hasIpv6),
    maxRules,
  );
  let ports = deniedPorts(denied);
  const isWidened = ruleCount(table, hasIpv6) + deniedRuleCount(ports) > maxRules;
  if (isWidened) ports = ports.map(widened);
  const first = deniedRules(ports);
  return {
    values: boundAcls({
      names: podAclNames(name),
      interfaces: [name],
      table,
      hasIpv6,
      first,
      kept,
    }),
    hasTable: !isPermitAll(table),
    omissions: { omitted, withSctpPorts: policiesWithSctpPorts(ingress.rules), isWidened },
  };
}

/** The part of egress policies in the table of a pod: the sender is the only peer. */
function rulesAbout({ addresses: to }: PodPolicy, { addresses, egress }: PodPolicy): PolicyRule[] {
  const peers = AddressSet.ofAddresses(addresses);
  return egress.rules
    .filter((rule) => to.some((address) => rule.peers.has(address)))
    .map((rule) => ({ ...rule, peers }));
}
