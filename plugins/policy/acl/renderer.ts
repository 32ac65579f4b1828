/**
 * Renders policies as ACLs of VPP. An interface has two while a policy concerns it, whose rules are replaced in place:
 * - at its output a table, which decides about each packet, after connections that were open before the table came;
 * - at its input rules that let the replies to what passed there return through the table, after those about clients of
 *   services.
 * The NICs and the link to the host have one at their input while clients from there are denied services; the link to the
 * host has both while policies of the cluster deny pods the host.
 */
import { isDeepStrictEqual } from 'node:util';
import { Slices } from '#infra/clock/slices.ts';
import type { AttachmentId } from '#plugins/podmanager/api.ts';
import type { ServiceName } from '#plugins/service/api.ts';
import { AddressSet, formatAddress } from '../address-set.ts';
import { isRestricted, type PolicyName } from '../pod-policy.ts';
import type {
  PolicyNode,
  RenderedChange,
  RenderedPod,
  RenderedState,
  RendererContext,
} from '../rendered-state.ts';
import { type AclNames, hostAclNames, nodeAclNames, podAclNames } from './acl-names.ts';
import { isUnread, type KeptConnection, unread } from './kept-connections.ts';
import { nodeAcls } from './node-acls.ts';
import { lacksNothing, OmissionReasons, type Omissions } from './omissions.ts';
import { type AclSurroundings, podAcls } from './pod-acls.ts';
import { MAX_RULES } from './rule-limit.ts';
import { ServiceAccess } from './service-access.ts';

/** Of values: of what clients from outside are denied. */
const CLIENTS = 'clients';

/** A pod, at its interface, or the node, at the interfaces that lead out of it: it is the group of the values, too. */
export type TableOwner = AttachmentId | typeof NODE;

export const NODE = 'node';

/** The policies that are carried, and which groups of values carry them. */
export class AclRenderer {
  readonly #maxRules: number;
  #node: PolicyNode;
  #nodeAddresses = AddressSet.none;
  readonly #pods = new Map<AttachmentId, RenderedPod>();
  readonly #access = new ServiceAccess();
  /** Without those of tables that lack nothing. */
  readonly #omissions = new Map<TableOwner, Omissions>();
  /** Of all that have a table: connections that were open before it came. */
  readonly #kept = new Map<TableOwner, readonly KeptConnection[]>();
  readonly #newTables = new Set<TableOwner>();
  #hasHostTable: boolean;

  /** Replaces all groups. @param maxRules of one table */
  static async render(
    ctx: RendererContext,
    state: RenderedState,
    maxRules = MAX_RULES,
  ): Promise<AclRenderer> {
    const renderer = new AclRenderer(state, maxRules);
    await renderer.update(ctx, state);
    return renderer;
  }

  private constructor({ node, pods, kept }: RenderedState, maxRules: number) {
    this.#maxRules = maxRules;
    this.#node = node;
    const keepFound = (owner: TableOwner, { output }: AclNames) => {
      const found = kept?.get(output);
      if (found) this.#setKept(owner, found);
    };
    keepFound(NODE, nodeAclNames);
    this.#hasHostTable = kept?.has(hostAclNames.output) ?? false;
    for (const [id, pod] of pods) if (pod) keepFound(id, podAclNames(pod.interface));
  }

  /** Replaces the groups that the change touches. */
  async update({ txn, clock }: RendererContext, change: RenderedChange): Promise<void> {
    const { pods, node, services = noServices, added } = change;
    const slices = new Slices(clock);
    if (node !== undefined) this.#setNode(node);
    let isForAll = node !== undefined;
    const affected = new Set<ServiceName>(services.keys());
    for (const [name, addresses] of services) {
      this.#access.setService(name, addresses);
      if (slices.due()) await slices.turn();
    }
    for (const [id, pod] of pods) {
      const before = this.#pods.get(id);
      isForAll ||= !isSameSender(before, pod);
      if (before && !isSender(before) && isSender(pod)) this.#readNodeAgain();
      if (isSender(before) && pod === undefined) this.#endAtNode(before);
      for (const name of this.#setPod(txn, id, pod)) affected.add(name);
    }
    const surroundings = this.#surroundings();
    for (const id of isForAll || affected.size > 0 ? this.#pods.keys() : pods.keys()) {
      const pod = this.#pods.get(id);
      if (pod === undefined) continue;
      let isOther = isForAll || pods.has(id);
      if (node !== undefined || pods.has(id)) this.#access.decideAll(id);
      else if (affected.size > 0) isOther = this.#access.decide(id, affected) || isOther;
      if (isOther) this.#renderPod(txn, id, pod, surroundings, id === added);
      if (slices.dueNow()) await slices.turn();
    }
    if (isForAll || affected.size > 0) this.#renderNode(txn, surroundings);
  }

  /** Owners of tables whose connections are to be read: those that came since the last call, but for pods just attached. */
  takeNewTables(): readonly TableOwner[] {
    const owners = [...this.#newTables];
    this.#newTables.clear();
    return owners;
  }

  /** Connections that were open before the owner had its table. Ignored if it has none any more. */
  keep(
    { txn }: Pick<RendererContext, 'txn'>,
    owner: TableOwner,
    connections: readonly KeptConnection[],
  ): void {
    if (!this.#kept.has(owner)) return;
    this.#kept.set(owner, connections);
    const surroundings = this.#surroundings();
    const pod = this.#pods.get(owner);
    if (pod) this.#renderPod(txn, owner, pod, surroundings, false);
    else if (owner === NODE) this.#renderNode(txn, surroundings);
  }

  /** By owner; without those that keep none, or are to be read. */
  kept(): ReadonlyMap<TableOwner, readonly KeptConnection[]> {
    return new Map([...this.#kept].filter(([, kept]) => kept.length > 0 && !isUnread(kept)));
  }

  /** Pods of this node that egress policies restrict. */
  senders(): readonly AttachmentId[] {
    return [...this.#pods].flatMap(([id, pod]) => (isSender(pod) ? [id] : []));
  }

  get node(): PolicyNode {
    return this.#node;
  }

  /** Those with addresses whose clients are checked where their packets enter. */
  get services(): RenderedState['services'] {
    return this.#access.services;
  }

  /** Reasons for which less is permitted than the policies say, by policy: for example too many rules. */
  limits(): ReadonlyMap<PolicyName, readonly string[]> {
    const reasons = new OmissionReasons(this.#maxRules);
    for (const [id, omissions] of this.#omissions) {
      const owner = id === NODE ? 'the node' : `pod ${this.#pods.get(id)?.policy.pod}`;
      // of now: another policy may deny the same ports, which changes no rule
      reasons.add(owner, omissions, this.#access.denyingPolicies(id));
    }
    return reasons.all();
  }

  /** Groups of the values that carry the policies of a pod. */
  groupsOf(id: AttachmentId): readonly string[] {
    const pod = this.#pods.get(id);
    if (pod === undefined) return [];
    return [
      podGroup(id),
      ...(isSender(pod) ? [NODE] : []),
      ...(this.#access.isGuarded(id) ? [CLIENTS] : []),
    ];
  }

  #setNode(node: PolicyNode): void {
    this.#node = node;
    this.#nodeAddresses = AddressSet.of([...node.addresses, ...node.natLoopbacks]);
    this.#access.setNodeAddresses(this.#nodeAddresses);
  }

  /** @returns services that other pods may use now, or may not use any more */
  #setPod(
    txn: RendererContext['txn'],
    id: AttachmentId,
    pod: RenderedPod | undefined,
  ): ReadonlySet<ServiceName> {
    if (pod === undefined) {
      this.#pods.delete(id);
      this.#omissions.delete(id);
      this.#setTable(id, undefined);
      txn.replace(podGroup(id), []);
    } else this.#pods.set(id, pod);
    return this.#access.setPod(id, pod?.policy);
  }

  #surroundings(): AclSurroundings {
    const senders = [...this.#pods.values()].filter(isSender).map(({ policy }) => policy);
    return { nodeAddresses: this.#nodeAddresses, senders, maxRules: this.#maxRules };
  }

  #renderPod(
    txn: RendererContext['txn'],
    id: AttachmentId,
    pod: RenderedPod,
    surroundings: AclSurroundings,
    isAdded: boolean,
  ): void {
    // a pod that is just being attached has opened nothing
    const kept = this.#kept.get(id) ?? (isAdded ? [] : [unread]);
    const denied = this.#access.deniedTo(id);
    const { values, hasTable, omissions } = podAcls(pod, denied, kept, surroundings);
    this.#setOmissions(id, omissions);
    txn.replace(podGroup(id), values, { evenUnchanged: isAdded });
    this.#setTable(id, hasTable ? kept : undefined);
  }

  #renderNode(txn: RendererContext['txn'], surroundings: AclSurroundings): void {
    const render = () => {
      const kept = this.#kept.get(NODE) ?? [unread];
      return { kept, ...nodeAcls(this.#node, this.#access.guarded(), kept, surroundings) };
    };
    let acls = render();
    if (acls.hasHostTable && !this.#hasHostTable) {
      // connections that the host opened to pods pass no other interface of the node
      this.#readNodeAgain();
      acls = render();
    }
    this.#hasHostTable = acls.hasHostTable;
    this.#setOmissions(NODE, acls.omissions);
    txn.replace(NODE, acls.values);
    txn.replace(CLIENTS, acls.clientValues);
    this.#setTable(NODE, acls.hasTable ? acls.kept : undefined);
  }

  /** @param kept undefined: the owner has no table */
  #setTable(owner: TableOwner, kept: readonly KeptConnection[] | undefined): void {
    if (kept === undefined) {
      this.#kept.delete(owner);
      this.#newTables.delete(owner);
    } else if (!this.#kept.has(owner)) this.#setKept(owner, kept);
  }

  /** Connections that others opened to a pod before the node had its table are read when the pod is isolated for egress. */
  #readNodeAgain(): void {
    const kept = this.#kept.get(NODE);
    if (kept && !isUnread(kept)) this.#setKept(NODE, [unread, ...kept]);
  }

  /** Another pod may get its address. */
  #endAtNode({ policy }: RenderedPod): void {
    const kept = this.#kept.get(NODE);
    const addresses = new Set(policy.addresses.map(formatAddress));
    if (kept)
      this.#kept.set(
        NODE,
        kept.filter(({ source }) => !addresses.has(source.address)),
      );
  }

  #setKept(owner: TableOwner, kept: readonly KeptConnection[]): void {
    this.#kept.set(owner, kept);
    if (isUnread(kept)) this.#newTables.add(owner);
  }

  #setOmissions(owner: TableOwner, omissions: Omissions): void {
    if (lacksNothing(omissions)) this.#omissions.delete(owner);
    else this.#omissions.set(owner, omissions);
  }
}

const noServices: RenderedState['services'] = new Map();

function podGroup(id: AttachmentId): string {
  return `pod/${id}`;
}

function isSender(pod: RenderedPod | undefined): pod is RenderedPod {
  return pod !== undefined && isRestricted(pod.policy.egress);
}

/** Whether the tables of other pods, and that of the node, are the same for both. */
function isSameSender(a: RenderedPod | undefined, b: RenderedPod | undefined): boolean {
  if (!isSender(a) || !isSender(b)) return isSender(a) === isSender(b);
  return (
    a.policy.egress === b.policy.egress && isDeepStrictEqual(a.policy.addresses, b.policy.addresses)
  );
}
