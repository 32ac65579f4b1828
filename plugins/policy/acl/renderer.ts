/**
 * Renders policies as ACLs of VPP. Each interface has two, whose rules are replaced in place:
 * - at its output a table, which decides about each packet;
 * - at its input rules that let the replies to what passed there return through the table.
 */
import { isDeepStrictEqual } from 'node:util';
import { Slices } from '#infra/clock/slices.ts';
import type { Value } from '#kvscheduler/api/transaction.ts';
import { AbortEventError } from '#plugins/controller/api/errors.ts';
import type { ResyncTransaction, UpdateTransaction } from '#plugins/controller/api/transaction.ts';
import type { AttachmentId } from '#plugins/podmanager/api.ts';
import { AddressSet } from '../address-set.ts';
import { type Isolation, isIsolated, type PodPolicy, type PolicyName } from '../pod-policy.ts';
import type {
  PolicyNode,
  PolicyRenderer,
  RenderedChange,
  RenderedPod,
  RenderedState,
  RendererContext,
  RendererResyncContext,
} from '../renderer.ts';
import { nodeAclNames, podAclNames } from './acl-names.ts';
import { deniedServices } from './exceptional-rules.ts';
import { globalTable } from './global-table.ts';
import { type EgressIsolatedPod, localTable } from './local-table.ts';
import { mergedPermits } from './merged-permits.ts';
import { PutAcls } from './put-acls.ts';
import { MAX_RULES, policiesWithSctpPorts, withinLimit } from './rule-limit.ts';

/** @param maxRules of one table */
export function createAclRenderer(maxRules = MAX_RULES): PolicyRenderer {
  return new AclRenderer(maxRules);
}

/** Permits of policies that the table of one pod, or that of the node, lacks. */
interface Omissions {
  readonly omitted: readonly PolicyName[];
  readonly withSctpPorts: ReadonlySet<PolicyName>;
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
  #acls = new PutAcls();
  /** Without those that lack nothing. */
  #omissions = new Map<AttachmentId | typeof NODE, Omissions>();

  constructor(maxRules: number) {
    this.#maxRules = maxRules;
  }

  async resync(ctx: RendererResyncContext, { node, pods }: RenderedState): Promise<void> {
    this.#pods = new Map(pods);
    this.#senders = new Map([...pods].filter(([, pod]) => isSender(pod)));
    this.#acls = new PutAcls();
    this.#omissions = new Map();
    this.#setNode(node);
    const slices = new Slices(ctx.clock);
    for (const [id, pod] of pods) {
      this.#renderPod(ctx.txn, id, pod);
      if (slices.dueNow()) await slices.turn();
    }
    this.#renderNode(ctx.txn);
  }

  async update({ txn, clock }: RendererContext, change: RenderedChange): Promise<void> {
    const { node } = change;
    let isForAll = node !== undefined && !isSameButServices(node, this.#node);
    if (node !== undefined) this.#setNode(node);
    for (const [id, pod] of change.pods) {
      const before = this.#pods.get(id);
      isForAll ||= !isSameSender(before, pod);
      if (before !== undefined && before.interface !== pod?.interface)
        this.#deletePod(txn, id, before);
      if (pod === undefined) this.#pods.delete(id);
      else this.#pods.set(id, pod);
      if (isSender(pod)) this.#senders.set(id, pod);
      else this.#senders.delete(id);
    }
    const slices = new Slices(clock);
    const ids = isForAll
      ? this.#pods.keys()
      : new Set([...change.pods.keys(), ...(node ? this.#senders.keys() : [])]);
    for (const id of ids) {
      const pod = this.#pods.get(id);
      if (pod !== undefined) this.#renderPod(txn, id, pod, id === change.added);
      if (slices.dueNow()) await slices.turn();
    }
    if (isForAll) this.#renderNode(txn);
  }

  deleteAll({ txn }: Pick<RendererContext, 'txn'>): void {
    for (const key of this.#acls.keys()) txn.delete(key);
    this.#acls = new PutAcls();
    this.#omissions.clear();
  }

  limits(): ReadonlyMap<PolicyName, readonly string[]> {
    const reasons = new Map<PolicyName, string[]>();
    const add = (policy: PolicyName, reason: string): void => {
      const known = reasons.get(policy) ?? [];
      if (!known.includes(reason)) reasons.set(policy, [...known, reason]);
    };
    for (const [id, { omitted, withSctpPorts }] of this.#omissions) {
      const owner = id === NODE ? 'the node' : `pod ${this.#pods.get(id)?.policy.pod}`;
      for (const policy of omitted)
        add(
          policy,
          `denied what it permits: the table of ${owner} would have more than ${this.#maxRules} rules`,
        );
      for (const policy of withSctpPorts)
        add(policy, 'denied ports of SCTP: VPP compares no ports of this protocol');
    }
    return reasons;
  }

  valuesOf(attachment: AttachmentId): ReadonlyMap<string, Value> {
    const pod = this.#pods.get(attachment);
    if (pod === undefined) return new Map();
    return new Map([
      ...this.#acls.valuesOf(podAclNames(pod.interface)),
      ...(isSender(pod) ? this.#acls.valuesOf(nodeAclNames) : []),
    ]);
  }

  #setNode(node: PolicyNode): void {
    this.#node = node;
    const addresses = AddressSet.of([...node.addresses, node.natLoopback]);
    // what is decided for the same object is kept
    if (!addresses.equals(this.#nodeAddresses)) this.#nodeAddresses = addresses;
  }

  #renderPod(
    txn: ResyncTransaction,
    id: AttachmentId,
    { policy, interface: name }: RenderedPod,
    isForced = false,
  ): void {
    const { ingress } = policy;
    const senders = [...this.#senders.values()].map((sender) => sender.policy);
    const { table, omitted } = withinLimit(
      () => [...ingress.permits, ...senders.flatMap(({ egress }) => egress.permits)],
      (without) =>
        localTable(
          policy,
          withoutPolicies(ingress, without),
          this.#nodeAddresses,
          senders.map((sender) => egressIsolated(sender, without)),
        ),
      this.#maxRules,
    );
    this.#setOmissions(id, { omitted, withSctpPorts: policiesWithSctpPorts(ingress.permits) });
    const { outsideServices = [] } = this.#currentNode;
    const denied = deniedServices(policy.egress, outsideServices, this.#nodeAddresses);
    this.#acls.put(txn, { names: podAclNames(name), interfaces: [name], table, denied }, isForced);
  }

  #renderNode(txn: ResyncTransaction): void {
    const { interfaces, podSubnet } = this.#currentNode;
    const senders = [...this.#senders.values()].map(({ policy }) => policy);
    const permits = () => senders.flatMap(({ egress }) => egress.permits);
    const { table, omitted } = withinLimit(
      permits,
      (without) =>
        globalTable(
          this.#nodeAddresses,
          senders.map((sender) => egressIsolated(sender, without)),
        ),
      this.#maxRules,
    );
    this.#setOmissions(NODE, { omitted, withSctpPorts: policiesWithSctpPorts(permits()) });
    this.#acls.put(txn, {
      names: nodeAclNames,
      interfaces,
      table,
      // a tunnel's interface gets what it sends as input, too
      withoutSessions: podSubnet,
    });
  }
  #deletePod(txn: UpdateTransaction, id: AttachmentId, pod: RenderedPod): void {
    this.#acls.delete(txn, podAclNames(pod.interface));
    this.#omissions.delete(id);
  }

  #setOmissions(owner: AttachmentId | typeof NODE, omissions: Omissions): void {
    if (omissions.omitted.length + omissions.withSctpPorts.size === 0)
      this.#omissions.delete(owner);
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

/** Whether only services differ, which concern the pods that egress policies isolate. */
function isSameButServices(a: PolicyNode, b: PolicyNode | undefined): boolean {
  return (
    b !== undefined &&
    isDeepStrictEqual({ ...a, outsideServices: [] }, { ...b, outsideServices: [] })
  );
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

function egressIsolated(
  { addresses, egress }: PodPolicy,
  without: ReadonlySet<PolicyName>,
): EgressIsolatedPod {
  return { addresses, permits: mergedPermits(withoutPolicies(egress, without).permits) };
}
