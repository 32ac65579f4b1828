/**
 * Renders policies as ACLs of VPP. Each interface has two, whose rules are replaced in place:
 * - at its output a table, which decides about each packet;
 * - at its input rules that let the replies to what passed there return through the table, after those about services
 *   at which VPP replaces the client.
 * The NICs have one at their input while clients from outside are denied such services.
 */
import { isDeepStrictEqual } from 'node:util';
import { Slices } from '#infra/clock/slices.ts';
import type { Value } from '#kvscheduler/api/transaction.ts';
import { AbortEventError } from '#plugins/controller/api/errors.ts';
import type { ResyncTransaction, UpdateTransaction } from '#plugins/controller/api/transaction.ts';
import type { AttachmentId } from '#plugins/podmanager/api.ts';
import type { ServiceName } from '#plugins/service/api.ts';
import { AddressSet } from '../address-set.ts';
import {
  type Isolation,
  isIsolated,
  type Permit,
  type PodPolicy,
  type PolicyName,
} from '../pod-policy.ts';
import type {
  PolicyNode,
  PolicyRenderer,
  RenderedChange,
  RenderedPod,
  RenderedState,
  RendererContext,
  RendererResyncContext,
} from '../renderer.ts';
import { CLIENT_ACL, nodeAclNames, podAclNames } from './acl-names.ts';
import { ruleCount } from './acl-rules.ts';
import {
  type ClientRule,
  clientRuleCount,
  clientRules,
  deniedPorts,
  deniedRuleCount,
  deniedRules,
  widened,
} from './exceptional-rules.ts';
import { globalTable } from './global-table.ts';
import { type EgressIsolatedPod, localTable } from './local-table.ts';
import { mergedPermits } from './merged-permits.ts';
import { PutAcls } from './put-acls.ts';
import { MAX_RULES, policiesWithSctpPorts, withinLimit } from './rule-limit.ts';
import { type GuardedAddress, permittedClients, ServiceAccess } from './service-access.ts';

/** @param maxRules of one table */
export function createAclRenderer(maxRules = MAX_RULES): PolicyRenderer {
  return new AclRenderer(maxRules);
}

/** Permits of policies that the rules of one pod, or those of the node, lack. */
interface Omissions {
  readonly omitted: readonly PolicyName[];
  readonly withSctpPorts: ReadonlySet<PolicyName>;
  /** Whether more ports of services are denied than policies forbid. */
  readonly isWidened: boolean;
}

/** Owner of the table of the node among the attachments. */
const NODE = '';

class AclRenderer implements PolicyRenderer {
  readonly name = 'acl';
  readonly #maxRules: number;
  #node: PolicyNode | undefined;
  #nodeAddresses = AddressSet.none;
  #pods = new Map<AttachmentId, RenderedPod>();
  /** Those of the pods that egress policies isolate. */
  #senders = new Map<AttachmentId, RenderedPod>();
  #access = new ServiceAccess();
  #acls = new PutAcls();
  /** Without those that lack nothing. */
  #omissions = new Map<AttachmentId | typeof NODE, Omissions>();

  constructor(maxRules: number) {
    this.#maxRules = maxRules;
  }

  async resync(ctx: RendererResyncContext, { node, pods, services }: RenderedState): Promise<void> {
    this.#pods = new Map(pods);
    this.#senders = new Map([...pods].filter(([, pod]) => isSender(pod)));
    this.#acls = new PutAcls();
    this.#omissions = new Map();
    this.#access = new ServiceAccess();
    this.#setNode(node);
    const slices = new Slices(ctx.clock);
    for (const [name, addresses] of services) {
      this.#access.setService(name, addresses);
      if (slices.due()) await slices.turn();
    }
    for (const [id, { policy }] of pods) this.#access.setPod(id, policy);
    for (const [id, pod] of pods) {
      this.#access.decideAll(id);
      this.#renderPod(ctx.txn, id, pod);
      if (slices.dueNow()) await slices.turn();
    }
    this.#renderNode(ctx.txn);
  }

  async update({ txn, clock }: RendererContext, change: RenderedChange): Promise<void> {
    const { node, services } = change;
    const isOtherNode = node !== undefined && !isDeepStrictEqual(node, this.#node);
    if (isOtherNode) this.#setNode(node);
    let isForAll = isOtherNode;
    const affected = new Set<ServiceName>(services?.keys());
    for (const [name, addresses] of services ?? []) this.#access.setService(name, addresses);
    for (const [id, pod] of change.pods) {
      const before = this.#pods.get(id);
      isForAll ||= !isSameSender(before, pod);
      if (before !== undefined && before.interface !== pod?.interface)
        this.#deletePod(txn, id, before);
      if (pod === undefined) this.#pods.delete(id);
      else this.#pods.set(id, pod);
      if (isSender(pod)) this.#senders.set(id, pod);
      else this.#senders.delete(id);
      for (const name of this.#access.setPod(id, pod?.policy)) affected.add(name);
    }
    const slices = new Slices(clock);
    const ids = isForAll || affected.size > 0 ? this.#pods.keys() : change.pods.keys();
    for (const id of ids) {
      const pod = this.#pods.get(id);
      if (pod === undefined) continue;
      let isOther = isForAll || change.pods.has(id);
      if (isOtherNode || change.pods.has(id)) this.#access.decideAll(id);
      else if (affected.size > 0) isOther = this.#access.decide(id, affected) || isOther;
      if (isOther) this.#renderPod(txn, id, pod, id === change.added);
      if (slices.dueNow()) await slices.turn();
    }
    if (isForAll || affected.size > 0) {
      const deniesClients = this.#renderNode(txn);
      if (!deniesClients) this.#acls.delete(txn, [CLIENT_ACL]);
    }
  }

  deleteAll({ txn }: Pick<RendererContext, 'txn'>): void {
    for (const key of this.#acls.keys()) txn.delete(key);
    this.#acls = new PutAcls();
    this.#omissions.clear();
  }

  limits(): ReadonlyMap<PolicyName, readonly string[]> {
    const reasons = new Map<PolicyName, Set<string>>();
    const add = (policy: PolicyName, reason: string): void => {
      const known = reasons.get(policy);
      if (known === undefined) reasons.set(policy, new Set([reason]));
      else known.add(reason);
    };
    for (const [id, { omitted, withSctpPorts, isWidened }] of this.#omissions) {
      const owner = id === NODE ? 'the node' : `pod ${this.#pods.get(id)?.policy.pod}`;
      const why = `the table of ${owner} would have more than ${this.#maxRules} rules`;
      for (const policy of omitted) add(policy, `denied what it permits: ${why}`);
      // of now: another policy may deny the same ports, which changes no rule
      for (const policy of isWidened ? this.#access.denyingPolicies(id) : [])
        add(policy, `denied more ports of services than it forbids: ${why}`);
      for (const policy of withSctpPorts)
        add(policy, 'denied ports of SCTP: VPP compares no ports of this protocol');
    }
    // the order of the omissions is that in which they came
    return new Map(Array.from(reasons, ([policy, all]) => [policy, [...all].sort()]));
  }

  valuesOf(id: AttachmentId): ReadonlyMap<string, Value> {
    const pod = this.#pods.get(id);
    if (pod === undefined) return new Map();
    return new Map([
      ...this.#acls.valuesOf(Object.values(podAclNames(pod.interface))),
      ...(isSender(pod) ? this.#acls.valuesOf(Object.values(nodeAclNames)) : []),
      ...(this.#access.isGuarded(id) ? this.#acls.valuesOf([CLIENT_ACL]) : []),
    ]);
  }

  #setNode(node: PolicyNode): void {
    this.#node = node;
    const addresses = AddressSet.of([...node.addresses, node.natLoopback]);
    this.#nodeAddresses = addresses;
    this.#access.setNodeAddresses(addresses);
  }

  #renderPod(
    txn: ResyncTransaction,
    id: AttachmentId,
    { policy, interface: name }: RenderedPod,
    isForced = false,
  ): void {
    const { ingress } = policy;
    const senders = [...this.#senders.values()].map((sender) => sender.policy);
    const { result: table, omitted } = withinLimit(
      () => [...ingress.permits, ...senders.flatMap((sender) => permitsTo(policy, sender))],
      (without) =>
        localTable(
          policy,
          withoutPolicies(ingress, without),
          this.#nodeAddresses,
          senders.map((sender) => egressIsolated(sender, without)),
        ),
      ruleCount,
      this.#maxRules,
    );
    let denied = deniedPorts(this.#access.deniedTo(id));
    const isWidened = ruleCount(table) + deniedRuleCount(denied) > this.#maxRules;
    if (isWidened) denied = denied.map(widened);
    this.#setOmissions(id, {
      omitted,
      withSctpPorts: policiesWithSctpPorts(ingress.permits),
      isWidened,
    });
    const bound = { names: podAclNames(name), interfaces: [name], table };
    this.#acls.put(txn, { ...bound, first: deniedRules(denied) }, isForced);
  }

  /** @returns whether clients that are no pods of this node are denied services at its NICs */
  #renderNode(txn: ResyncTransaction): boolean {
    const { interfaces, nics, podSubnet } = this.#currentNode;
    const senders = [...this.#senders.values()].map(({ policy }) => policy);
    const permits = () => senders.flatMap(({ egress }) => egress.permits);
    const { result: table, omitted } = withinLimit(
      permits,
      (without) =>
        globalTable(
          this.#nodeAddresses,
          senders.map((sender) => egressIsolated(sender, without)),
        ),
      ruleCount,
      this.#maxRules,
    );
    const guarded = this.#access.guarded();
    const clients = withinLimit(
      () => guarded.flatMap(permitsOfClients),
      (without) => guarded.flatMap((one) => clientRule(one, without)),
      clientRuleCount,
      this.#maxRules,
    );
    this.#setOmissions(NODE, {
      omitted: [...new Set([...omitted, ...clients.omitted])],
      withSctpPorts: policiesWithSctpPorts(permits()),
      isWidened: false,
    });
    const first = clientRules(clients.result);
    this.#acls.put(txn, {
      names: nodeAclNames,
      interfaces,
      table,
      // a tunnel's interface gets what it sends as input, too
      withoutSessions: podSubnet,
      // clients on other nodes
      first,
    });
    const deniesClients = clients.result.length > 0;
    if (deniesClients) this.#acls.putInput(txn, CLIENT_ACL, nics, first);
    return deniesClients;
  }

  #deletePod(txn: UpdateTransaction, id: AttachmentId, pod: RenderedPod): void {
    this.#acls.delete(txn, Object.values(podAclNames(pod.interface)));
    this.#omissions.delete(id);
  }

  #setOmissions(owner: AttachmentId | typeof NODE, omissions: Omissions): void {
    const { omitted, withSctpPorts, isWidened } = omissions;
    if (omitted.length + withSctpPorts.size === 0 && !isWidened) this.#omissions.delete(owner);
    else this.#omissions.set(owner, omissions);
  }

  get #currentNode(): PolicyNode {
    if (!this.#node) throw new AbortEventError('policies are unknown before the first resync');
    return this.#node;
  }
}

function isSender(pod: RenderedPod | undefined): pod is RenderedPod {
  return pod !== undefined && isIsolated(pod.policy.egress);
}

/** Whether the tables of other pods, and that of the node, are the same for both. */
function isSameSender(a: RenderedPod | undefined, b: RenderedPod | undefined): boolean {
  if (!isSender(a) || !isSender(b)) return isSender(a) === isSender(b);
  return (
    a.policy.egress === b.policy.egress && isDeepStrictEqual(a.policy.addresses, b.policy.addresses)
  );
}

function withoutPolicies(isolation: Isolation, without: ReadonlySet<PolicyName>): Isolation {
  if (without.size === 0) return isolation;
  const permits = isolation.permits.filter(({ policy }) => !without.has(policy));
  return { ...isolation, permits };
}

/** The part of egress policies in the table of a pod: the sender is the only peer. */
function permitsTo({ addresses: to }: PodPolicy, { addresses, egress }: PodPolicy): Permit[] {
  const peers = AddressSet.ofAddresses(addresses);
  return egress.permits
    .filter((permit) => to.some((address) => permit.peers.has(address)))
    .map((permit) => ({ ...permit, peers }));
}

function egressIsolated(
  { addresses, egress }: PodPolicy,
  without: ReadonlySet<PolicyName>,
): EgressIsolatedPod {
  return { addresses, permits: mergedPermits(withoutPolicies(egress, without).permits) };
}

/** Permits of backends for their ports. */
function permitsOfClients({ address: { protocol }, backends }: GuardedAddress): Permit[] {
  return backends.flatMap(({ pod, port }) =>
    pod.ingress.permits.filter(({ ports }) => ports.has(protocol, port)),
  );
}

function clientRule(one: GuardedAddress, without: ReadonlySet<PolicyName>): ClientRule[] {
  const clients = permittedClients(one, (ingress) => withoutPolicies(ingress, without));
  return clients.equals(AddressSet.any) ? [] : [{ address: one.address, clients }];
}
