/** The ACLs of the interfaces by which packets leave this node, and by which clients from elsewhere reach it. */
import type { KeyValue } from '#plugins/controller/api/key-value.ts';
import { AddressSet, addressNumber } from '../address-set.ts';
import { type PolicyName, type PolicyRule, withoutPolicies } from '../pod-policy.ts';
import type { PolicyNode } from '../rendered-state.ts';
import { CLIENT_ACL, hostAclNames, nodeAclNames } from './acl-names.ts';
import { ruleCount } from './acl-rules.ts';
import { boundAcls, inputAcl } from './bound-acls.ts';
import { portsFor } from './decisions.ts';
import { type ClientRule, clientRuleCount, clientRules } from './exceptional-rules.ts';
import { globalTable } from './global-table.ts';
import type { KeptConnection } from './kept-connections.ts';
import { type Sender, senderOf } from './local-table.ts';
import type { Omissions } from './omissions.ts';
import type { AclSurroundings } from './pod-acls.ts';
import { policiesWithSctpPorts, withinLimit } from './rule-limit.ts';
import { type GuardedAddress, permittedClients } from './service-access.ts';
import { isPermitAll } from './table.ts';

export interface NodeAcls {
  readonly values: readonly KeyValue[];
  readonly hasTable: boolean;
  /** At the link to the host: packets of pods to it pass no other interface with a table. */
  readonly hasHostTable: boolean;
  /**
   * At the NICs, while clients that are no pods of this node are denied services, and at the link to the host, while its
   * clients are, or pods are denied the host.
   */
  readonly clientValues: readonly KeyValue[];
  readonly omissions: Omissions;
}

export function nodeAcls(
  { addresses, interfaces, nics, hostLink, podSubnets }: PolicyNode,
  guarded: readonly GuardedAddress[],
  kept: readonly KeptConnection[],
  { nodeAddresses, senders, maxRules }: AclSurroundings,
): NodeAcls {
  const hasIpv6 = podSubnets.some((subnet) => subnet.includes(':'));
  const rules = () => senders.flatMap(({ egress }) => egress.rules);
  const {
    result: { all, table },
    omitted,
  } = withinLimit(
    rules,
    (without) => {
      const made = senders.map((sender) => senderOf(sender, without, nodeAddresses));
      return { all: made, table: globalTable(made) };
    },
    ({ table: made }) => ruleCount(made, hasIpv6),
    maxRules,
  );
  const hostTable = globalTable(deniedTheHost(all, addresses));
  const clients = withinLimit(
    () => guarded.flatMap(rulesForClients),
    (without) => guarded.flatMap((one) => clientRule(one, without)),
    clientRuleCount,
    maxRules,
  );
  const first = clientRules(clients.result);
  const byHost = guarded.flatMap(({ address }) => clientRule({ address, backends: [] }));
  return {
    values: boundAcls({
      names: nodeAclNames,
      interfaces,
      table,
      hasIpv6,
      // a tunnel's interface gets what it sends as input, too
      withoutSessions: podSubnets,
      // clients on other nodes
      first,
      kept,
    }),
    hasTable: !isPermitAll(table),
    hasHostTable: !isPermitAll(hostTable),
    clientValues: [
      ...(clients.result.length > 0 ? [inputAcl(CLIENT_ACL, nics, first)] : []),
      ...boundAcls({
        names: hostAclNames,
        interfaces: [hostLink],
        table: hostTable,
        hasIpv6,
        first: clientRules(byHost),
        kept,
      }),
    ],
    omissions: {
      omitted: [...new Set([...omitted, ...clients.omitted])],
      withSctpPorts: policiesWithSctpPorts(rules()),
      isWidened: false,
    },
  };
}

/** Pods that reach an address of their node not at all, or at some ports: only policies of the cluster deny that. */
function deniedTheHost(all: readonly Sender[], addresses: PolicyNode['addresses']): Sender[] {
  const numbers = addresses.flatMap((text) => addressNumber(text) ?? []);
  return all.filter(({ decisions }) => numbers.some((one) => !portsFor(decisions, one).isAny));
}

/** Rules of backends about their ports. */
function rulesForClients({ address: { protocol }, backends }: GuardedAddress): PolicyRule[] {
  return backends.flatMap(({ pod, port }) =>
    pod.ingress.rules.filter(({ ports }) => ports.has(protocol, port)),
  );
}

function clientRule(
  one: GuardedAddress,
  without: ReadonlySet<PolicyName> = new Set(),
): ClientRule[] {
  const clients = permittedClients(one, (ingress) => withoutPolicies(ingress, without));
  return clients.equals(AddressSet.any) ? [] : [{ address: one.address, clients }];
}
