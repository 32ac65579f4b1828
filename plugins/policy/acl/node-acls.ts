/** The ACLs of the interfaces by which packets leave this node, and by which clients from elsewhere reach it. */
import type { KeyValue } from '#plugins/controller/api/key-value.ts';
import { AddressSet } from '../address-set.ts';
import { type PolicyName, type PolicyRule, withoutPolicies } from '../pod-policy.ts';
import type { PolicyNode } from '../rendered-state.ts';
import { CLIENT_ACL, HOST_CLIENT_ACL, nodeAclNames } from './acl-names.ts';
import { ruleCount } from './acl-rules.ts';
import { boundAcls, inputAcl } from './bound-acls.ts';
import { type ClientRule, clientRuleCount, clientRules } from './exceptional-rules.ts';
import { globalTable } from './global-table.ts';
import type { KeptConnection } from './kept-connections.ts';
import { senderOf } from './local-table.ts';
import type { Omissions } from './omissions.ts';
import type { AclSurroundings } from './pod-acls.ts';
import { policiesWithSctpPorts, withinLimit } from './rule-limit.ts';
import { type GuardedAddress, permittedClients } from './service-access.ts';
import { isPermitAll } from './table.ts';

export interface NodeAcls {
  readonly values: readonly KeyValue[];
  readonly hasTable: boolean;
  /** At the NICs and the link to the host, while clients that are no pods of this node are denied services. */
  readonly clientValues: readonly KeyValue[];
  readonly omissions: Omissions;
}

export function nodeAcls(
  { interfaces, nics, hostLink, podSubnet }: PolicyNode,
  guarded: readonly GuardedAddress[],
  kept: readonly KeptConnection[],
  { nodeAddresses, senders, maxRules }: AclSurroundings,
): NodeAcls {
  const rules = () => senders.flatMap(({ egress }) => egress.rules);
  const { result: table, omitted } = withinLimit(
    rules,
    (without) => globalTable(senders.map((sender) => senderOf(sender, without, nodeAddresses))),
    ruleCount,
    maxRules,
  );
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
      // a tunnel's interface gets what it sends as input, too
      withoutSessions: podSubnet,
      // clients on other nodes
      first,
      kept,
    }),
    hasTable: !isPermitAll(table),
    clientValues: [
      ...(clients.result.length > 0 ? [inputAcl(CLIENT_ACL, nics, first)] : []),
      ...(byHost.length > 0 ? [inputAcl(HOST_CLIENT_ACL, [hostLink], clientRules(byHost))] : []),
    ],
    omissions: {
      omitted: [...new Set([...omitted, ...clients.omitted])],
      withSctpPorts: policiesWithSctpPorts(rules()),
      isWidened: false,
    },
  };
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
