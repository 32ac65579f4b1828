/**
 * Event handler that allocates the addresses of the pods of this node. An address is in use while an
 * attachment owns it or a Pod record contains it: other nodes may still send packets to it. When no other
 * address is left, the one that was released longest ago is allocated again: records of finished pods may
 * exist for days.
 */
import type { KvStore } from '#datastore/api.ts';
import { Slices } from '#infra/clock/slices.ts';
import { type CodedError, defineError } from '#infra/errors/errors.ts';
import { resources } from '#kubernetes/resources/resources.ts';
import { parseCidr } from '#models/ip.ts';
import type { ContivConfApi, IpamConfig } from '#plugins/contivconf/api.ts';
import { type Event, EventMethod } from '#plugins/controller/api/event.ts';
import type {
  EventHandler,
  ResyncContext,
  RevertContext,
  UpdateContext,
  UpdateResult,
} from '#plugins/controller/api/event-handler.ts';
import { KubeStateChange } from '#plugins/controller/api/events.ts';
import { HandlerState } from '#plugins/controller/api/handler-state.ts';
import { Table } from '#plugins/controller/api/table.ts';
import {
  type Node,
  type NodeSyncApi,
  NodeUpdate,
  type NodeUpdatePayload,
} from '#plugins/nodesync/api.ts';
import {
  AddPod,
  type AddPodPayload,
  type AttachmentId,
  DeletePod,
  type DeletePodPayload,
  type PodManagerApi,
  podIdText,
  unknownPod,
} from '#plugins/podmanager/api.ts';
import { AddressPool } from './address-pool.ts';
import type { AddressRecord } from './address-record.ts';
import { AddressRecords } from './address-records.ts';
import { allocationList } from './allocation-list.ts';
import { type Allocation, type IpamApi, PodCidrChange, podRange } from './api.ts';
import { BaseIpam, type Plan, planOf, withPodSubnets } from './base-ipam.ts';
import { ExternalAddressError, externalAddress } from './external-address.ts';
import { PlanRecord } from './plan-record.ts';
import { SubnetsInUseError, selectPlan } from './plan-selection.ts';
import { PodRecordAddresses } from './pod-record-addresses.ts';
import { type Prefix, parsePrefix } from './prefix.ts';
import { whyReserved } from './reserved-address.ts';
import { subnetProblems } from './subnet-problems.ts';

export const AddressesExhaustedError = defineError({
  name: 'AddressesExhaustedError',
  code: 'CV_IPAM_EXHAUSTED',
  remedy:
    'Move pods to other nodes, or configure a larger subnet for each node (podSubnetOneNodePrefixLen).',
});

export interface IpamDeps {
  readonly conf: Pick<ContivConfApi, 'ipam' | 'defaultGateway'>;
  readonly nodes: Pick<NodeSyncApi, 'thisNode' | 'allNodes'>;
  readonly pods: Pick<PodManagerApi, 'attachments' | 'idOf' | 'addressInVpp'>;
  /** Local store of this node; persists across restarts of the agent. */
  readonly store: KvStore;
}

export function createIpam(deps: IpamDeps): EventHandler & IpamApi {
  return new Ipam(deps);
}

/** Valid pod CIDRs of the Node objects; for the other nodes the computed subnets apply. */
function podCidrs(nodes: ReadonlyMap<string, Node>): ReadonlyMap<number, Prefix> {
  const found = new Map<number, Prefix>();
  for (const { id, podCidr } of nodes.values())
    if (parseCidr(podCidr)) found.set(id, parsePrefix(podCidr, 'podCIDR'));
  return found;
}

interface State {
  /** An update may replace the pod subnets of other nodes. */
  plan: Plan;
  /** The records in the local store, which the first resync reads. */
  readonly records: AddressRecords;
  readonly planRecord: PlanRecord;
  /** Why the configured subnets are not in effect. */
  readonly problem: CodedError | undefined;
  readonly pool: AddressPool;
  readonly podRecords: PodRecordAddresses;
  /** Address of each attachment that owns one. */
  readonly owned: Table<AttachmentId, string>;
}

class Ipam extends BaseIpam implements EventHandler<State>, IpamApi {
  readonly name = 'ipam';
  readonly state = new HandlerState<State>(this.name);
  readonly #deps: IpamDeps;

  constructor(deps: IpamDeps) {
    super();
    this.#deps = deps;
  }

  protected get plan(): Plan | undefined {
    return this.state.known?.plan;
  }

  handlesEvent(event: Event): boolean {
    if (event.kind.method(event.payload) !== EventMethod.Update) return true;
    if (KubeStateChange.is(event)) return event.payload.resource === 'pod';
    if (NodeUpdate.is(event)) return this.#isExternal;
    return AddPod.is(event) || DeletePod.is(event);
  }

  async resync(ctx: ResyncContext, previous: State | undefined): Promise<State> {
    const records = previous?.records ?? (await AddressRecords.readBack(ctx, this.#deps.store));
    const planRecord = previous?.planRecord ?? (await PlanRecord.readBack(ctx, this.#deps.store));
    const { plan, problem } = await selectPlan(ctx, {
      configured: this.#deps.conf.ipam(),
      record: planRecord,
      planWith: (config) => this.#planWith(config, records),
    });
    const pool = new AddressPool(plan.pods);
    const isLocal = (address: string): boolean => pool.contains(address);
    const podRecords = await PodRecordAddresses.read(ctx.kubeState, isLocal, new Slices(ctx.clock));
    const owned = new Table<AttachmentId, string>(ctx.journal);
    const state: State = { plan, records, planRecord, problem, pool, podRecords, owned };
    await records.tryRestoreUncertain(ctx);
    this.#assignOwners(state);
    await this.#recordAddresses(ctx, state);
    for (const { address } of records.all()) pool.use(address);
    for (const address of podRecords.addresses()) pool.use(address);
    if (records.last !== undefined) pool.continueAfter(records.last);
    // the mirror may lack records that exist
    if (!ctx.isStateLocal) ctx.beforeCommit(this.#releaseLeaked(ctx, state));
    for (const err of this.#subnetProblems(state))
      ctx.log.error({ err }, 'pods of this node cannot be reached from everywhere');
    return state;
  }

  problems(): readonly CodedError[] {
    const { known } = this.state;
    if (!known) return [];
    return [...(known.problem ? [known.problem] : []), ...this.#subnetProblems(known)];
  }

  #subnetProblems({ plan, pool, records, owned }: State): readonly CodedError[] {
    const outside = [...owned.values()].flatMap((address) => {
      const record = pool.contains(address) ? undefined : records.get(address);
      return record ? [record] : [];
    });
    return subnetProblems(plan, outside);
  }

  #planWith(config: IpamConfig, records: AddressRecords) {
    const { conf, nodes, pods } = this.#deps;
    const plan = planOf({
      nodeId: nodes.thisNode().id,
      config,
      defaultGateway: conf.defaultGateway(),
      podSubnets: this.#isExternal ? podCidrs(nodes.allNodes()) : undefined,
    });
    const attachments = pods.attachments();
    const pool = new AddressPool(plan.pods);
    // an external IPAM allocates from subnets of its own, which the agent cannot keep
    const outside = records
      .all()
      .filter(
        ({ address, attachment, external }) =>
          !(external && this.#isExternal) && attachments.has(attachment) && !pool.contains(address),
      );
    return { plan, outside };
  }

  async update(ctx: UpdateContext, state: State): Promise<UpdateResult> {
    if (AddPod.is(ctx.event)) return this.#add(ctx, state, ctx.event.payload);
    if (KubeStateChange.is(ctx.event)) {
      const { key, current } = ctx.event.payload;
      for (const address of state.podRecords.set(key, current))
        await this.#updateUse(ctx, state, address);
      return {};
    }
    if (NodeUpdate.is(ctx.event)) return this.#nodeUpdate(ctx, state, ctx.event.payload);
    const result = await this.#release(
      ctx,
      state,
      this.#deps.pods.idOf(ctx.event.payload as DeletePodPayload),
    );
    this.#followDrain(ctx, state);
    return result;
  }

  /**
   * Earlier versions left the owner in the record of a released address: of two records of one
   * attachment the newer one is the last allocated, or the one that no Pod record contains yet.
   */
  #assignOwners({ records, podRecords, owned }: State): void {
    const attachments = this.#deps.pods.attachments();
    owned.clear();
    const isNewer = (address: string): boolean =>
      address === records.last || !podRecords.has(address);
    for (const { attachment, address } of records.all()) {
      if (attachment === '' || !attachments.has(attachment)) continue;
      const other = owned.get(attachment);
      if (other === undefined || (other !== records.last && isNewer(address)))
        owned.set(attachment, address);
    }
  }

  /**
   * Records the addresses of adopted attachments, and of those whose address record was lost. The link
   * of a running pod decides which attachment owns an address.
   */
  async #recordAddresses(ctx: ResyncContext, state: State): Promise<void> {
    const { pods } = this.#deps;
    const { records, owned } = state;
    for (const [attachment, { pod, podUid, adopted }] of pods.attachments()) {
      const known = owned.get(attachment);
      const address = adopted?.address ?? known ?? (await pods.addressInVpp(ctx, attachment));
      if (address === undefined) continue;
      // the name of the pod may have become known since
      const isNamed = podIdText(records.get(address)?.pod ?? unknownPod) !== podIdText(unknownPod);
      const isUnknown = podIdText(pod) === podIdText(unknownPod);
      if (address === known && (isNamed || isUnknown)) continue;
      const external = this.#isExternal && { external: true as const };
      if (known !== undefined && known !== address) await records.clearOwner(ctx, known);
      await records.put(ctx, { address, pod, podUid, attachment, ...external });
      ctx.log.warn({ address, pod: podIdText(pod) }, 'recorded the address of a running pod');
    }
    this.#assignOwners(state);
  }

  podAddresses(attachment: AttachmentId): readonly string[] {
    const address = this.state.known?.owned.get(attachment);
    return address === undefined ? [] : [address];
  }

  allocations(): ReadonlyMap<string, Allocation> {
    const { known } = this.state;
    return known ? allocationList(known.records.all(), known.owned, known.podRecords) : new Map();
  }

  describeInternalData(): string {
    const allocations = [...this.allocations().values()].sort((a, b) =>
      a.address < b.address ? -1 : 1,
    );
    const { known } = this.state;
    return JSON.stringify({ pool: String(known?.pool), last: known?.records.last, allocations });
  }

  get #isExternal(): boolean {
    return this.#deps.conf.ipam().useExternalIpam;
  }

  /** If the pod subnet of this node has changed, everything is recalculated. */
  #nodeUpdate(
    ctx: UpdateContext,
    state: State,
    { nodeName, current }: NodeUpdatePayload,
  ): UpdateResult {
    const { name } = this.#deps.nodes.thisNode();
    state.plan = withPodSubnets(state.plan, podCidrs(this.#deps.nodes.allNodes()));
    if (nodeName !== name || !current) return {};
    const localPodCidr = this.podSubnetOtherNode(current.id);
    if (localPodCidr === this.podSubnetThisNode()) return {};
    ctx.followUp(PodCidrChange.event({ localPodCidr }));
    return { change: `pod subnet of this node is now ${localPodCidr}; a resync follows` };
  }

  /** The configured subnets take effect when the last pod that they would cut off is deleted. */
  #followDrain(ctx: UpdateContext, { problem, owned }: State): void {
    if (!(problem instanceof SubnetsInUseError) || owned.size > 0) return;
    ctx.followUp(PodCidrChange.event({ localPodCidr: this.podSubnetThisNode() }));
  }

  async #releaseLeaked(ctx: ResyncContext, state: State): Promise<void> {
    const { records, podRecords, owned } = state;
    for (const { address, attachment, pod, external } of records.all()) {
      if (owned.get(attachment) === address) continue;
      if (!podRecords.has(address) || external)
        ctx.log.info({ address, pod: podIdText(pod) }, 'releasing the address of a deleted pod');
      await this.#updateUse(ctx, state, address);
    }
  }

  async #add(ctx: UpdateContext, state: State, payload: AddPodPayload): Promise<UpdateResult> {
    const attachment = this.#deps.pods.idOf(payload);
    if (state.owned.has(attachment)) {
      // a DEL may have failed after it had written
      await state.records.restoreUncertain(ctx);
      return {};
    }
    if (payload.ipamType !== '' && !this.#isExternal)
      ctx.log.warn(
        { pod: podIdText(payload.pod), ipam: payload.ipamType },
        'ignoring the address of another IPAM plugin: useExternalIPAM is false',
      );
    await state.planRecord.ensureWritten(ctx, this.settings());
    const address = this.#isExternal
      ? await this.#acceptExternal(ctx, state, payload, attachment)
      : await this.#allocate(ctx, state, payload, attachment);
    state.owned.set(attachment, address);
    return { change: `address ${address} for ${podIdText(payload.pod)}` };
  }

  async #allocate(
    ctx: UpdateContext,
    state: State,
    payload: AddPodPayload,
    attachment: AttachmentId,
  ): Promise<string> {
    const { pod, podUid } = payload;
    const { records, pool } = state;
    const owner = { pod: { namespace: pod.namespace, name: pod.name }, podUid, attachment };
    const next = pool.next();
    if (next !== undefined) {
      pool.continueAfter(next);
      pool.use(next);
      let isRecorded = false;
      ctx.beforeCommit(
        records.allocate(ctx, { address: next, ...owner }).then(() => {
          isRecorded = true;
        }),
      );
      ctx.onRevert(async (reverting) => {
        if (isRecorded) await this.#updateUse(reverting, state, next);
        // an address whose record could not be written is not used before a resync
        else records.forget(next, attachment);
      });
      return next;
    }
    const reused = await this.#reuse(ctx, state, owner);
    if (reused !== undefined) {
      ctx.onRevert((reverting) => this.#updateUse(reverting, state, reused));
      return reused;
    }
    const owned = state.owned.size;
    throw new AddressesExhaustedError(
      `no free address in ${pool}: ${owned} are owned by pods, ` +
        `${this.allocations().size - owned} are reserved because Pod records contain them`,
      { where: podIdText(pod) },
    );
  }

  /** Gives a reserved address to an attachment. @returns undefined: there is none */
  async #reuse(
    ctx: UpdateContext,
    state: State,
    owner: Omit<AddressRecord, 'address'>,
  ): Promise<string | undefined> {
    const { records, podRecords, pool } = state;
    // after a reboot most addresses may be reserved: a pod may get its own address again
    const podKey = resources.pod.key(owner.pod.name, owner.pod.namespace);
    for (const address of podRecords.onlyInRecord(podKey)) {
      if (isInUse(state, address)) continue;
      const record = { address, ...owner };
      const known = records.get(address);
      if (await (known ? records.replace(ctx, known, record) : records.create(ctx, record)))
        return address;
    }
    // without a record of its own, the address may be that of a pod of another node
    for (const known of records.inOrderOfRelease()) {
      const { address, pod } = known;
      if (isInUse(state, address) || !pool.isAllocatable(address)) continue;
      if (!(await records.replace(ctx, known, { address, ...owner }))) continue;
      ctx.log.info(
        { address, former: podIdText(pod), pod: podIdText(owner.pod) },
        'no address is free; allocating the one that was released longest ago',
      );
      return address;
    }
    return undefined;
  }

  /**
   * Accepts an address from another IPAM, unless a node uses it. Two attachments cannot own one
   * address: the current owner keeps it until its DEL.
   */
  async #acceptExternal(
    ctx: UpdateContext,
    state: State,
    payload: AddPodPayload,
    attachment: AttachmentId,
  ): Promise<string> {
    const { records, pool, owned } = state;
    const { pod, podUid } = payload;
    const address = externalAddress(payload.ipamData, state.plan.pods.family);
    const reserved = whyReserved(address, this, this.#deps.nodes);
    if (reserved !== undefined) {
      const { first, last } = podRange(this.podSubnetThisNode());
      throw new ExternalAddressError(
        `${address} is ${reserved}; pods can have ${first} to ${last}`,
        { where: podIdText(pod) },
      );
    }
    const before = records.get(address);
    if (before && owned.get(before.attachment) === address)
      throw new ExternalAddressError(`${address} is still owned by ${podIdText(before.pod)}`, {
        where: podIdText(pod),
      });
    if (!pool.contains(address))
      ctx.log.warn(
        { pod: podIdText(pod), address, podSubnet: this.podSubnetThisNode() },
        'the address of the pod is outside of the pod subnet of this node',
      );
    const owner = { namespace: pod.namespace, name: pod.name };
    await records.accept(ctx, { address, pod: owner, podUid, attachment, external: true });
    ctx.onRevert((reverting) => this.#updateUse(reverting, state, address));
    return address;
  }

  /** Releases the address of an attachment; it is reserved while a Pod record contains it. */
  async #release(
    ctx: UpdateContext,
    state: State,
    attachment: AttachmentId,
  ): Promise<UpdateResult> {
    const { owned, podRecords } = state;
    const address = owned.get(attachment);
    if (address === undefined) return {};
    owned.delete(attachment);
    try {
      await this.#updateUse(ctx, state, address);
    } catch (error) {
      // the runtime repeats its DEL, which would find nothing to release
      owned.set(attachment, address);
      throw error;
    }
    const suffix = podRecords.has(address)
      ? ' is reserved until its Pod record is deleted'
      : ' is free';
    return { change: `address ${address}${suffix}` };
  }

  /** Updates record and pool by the owner and the Pod records of an address. */
  async #updateUse(ctx: RevertContext, state: State, address: string): Promise<void> {
    const { records, podRecords, pool } = state;
    const external = this.#isExternal && records.get(address)?.external === true;
    if (isInUse(state, address) || (podRecords.has(address) && !external)) {
      pool.use(address);
      if (!isInUse(state, address)) await records.clearOwner(ctx, address);
      return;
    }
    if (records.has(address)) await records.delete(ctx, address);
    pool.release(address);
  }
}

function isInUse({ records, owned }: State, address: string): boolean {
  const record = records.get(address);
  return record !== undefined && owned.get(record.attachment) === address;
}
