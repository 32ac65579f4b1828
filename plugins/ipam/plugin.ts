/**
 * Event handler that allocates the addresses of the pods of this node. An address is in use while an
 * attachment owns it or a Pod record contains it: other nodes may still send packets to it. When no other
 * address is left, the one that was released longest ago is allocated again: records of finished pods may
 * exist for days.
 */
import type { KvStore } from '#datastore/api.ts';
import { Slices } from '#infra/clock/slices.ts';
import type { CodedError } from '#infra/errors/errors.ts';
import { resources } from '#kubernetes/resources/resources.ts';
import { parseCidr } from '#models/ip.ts';
import { addressList, type ContivConfApi, type IpamConfig } from '#plugins/contivconf/api.ts';
import { type Event, EventMethod } from '#plugins/controller/api/event.ts';
import type {
  EventHandler,
  ResyncContext,
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
  type Attachment,
  type AttachmentId,
  addressesOfLink,
  DeletePod,
  type DeletePodPayload,
  type PodManagerApi,
  podIdText,
  unknownPod,
} from '#plugins/podmanager/api.ts';
import { familyOfAddress } from './address-pools.ts';
import type { AddressRecord } from './address-record.ts';
import { AddressRecords } from './address-records.ts';
import { allocationList } from './allocation-list.ts';
import { type Allocation, type IpamApi, PodCidrChange } from './api.ts';
import { BaseIpam } from './base-ipam.ts';
import { type IpamState, poolsOf } from './ipam-state.ts';
import { type Plan, planOf, withPodSubnets } from './plan.ts';
import { PlanRecord } from './plan-record.ts';
import { SubnetsInUseError, selectPlan } from './plan-selection.ts';
import { PodAllocation } from './pod-allocation.ts';
import { PodRecordAddresses } from './pod-record-addresses.ts';
import { type Prefix, parsePrefix } from './prefix.ts';
import { subnetProblems } from './subnet-problems.ts';

export interface IpamDeps {
  readonly conf: Pick<ContivConfApi, 'ipam' | 'defaultGateways'>;
  readonly nodes: Pick<NodeSyncApi, 'thisNode' | 'allNodes'>;
  readonly pods: Pick<PodManagerApi, 'attachments' | 'idOf' | 'addressesInVpp'>;
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

class Ipam extends BaseIpam implements EventHandler<IpamState>, IpamApi {
  readonly name = 'ipam';
  readonly state = new HandlerState<IpamState>(this.name);
  readonly #deps: IpamDeps;
  readonly #allocation: PodAllocation;

  constructor(deps: IpamDeps) {
    super();
    this.#deps = deps;
    this.#allocation = new PodAllocation({
      nodes: deps.nodes,
      families: () => this.families(),
      allocations: () => this.allocations(),
      isExternal: () => this.#isExternal,
    });
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

  async resync(ctx: ResyncContext, previous: IpamState | undefined): Promise<IpamState> {
    const records = previous?.records ?? (await this.#readRecords(ctx));
    const planRecord = previous?.planRecord ?? (await PlanRecord.readBack(ctx, this.#deps.store));
    const { plan, problem } = await selectPlan(ctx, {
      configured: this.#deps.conf.ipam(),
      record: planRecord,
      planWith: (config) => this.#planWith(config, records),
    });
    const pools = poolsOf(plan);
    const isLocal = (address: string): boolean => pools.contains(address);
    const podRecords = await PodRecordAddresses.read(ctx.kubeState, isLocal, new Slices(ctx.clock));
    const owned = new Table<AttachmentId, readonly string[]>(ctx.journal);
    const state: IpamState = { plan, records, planRecord, problem, pools, podRecords, owned };
    await records.tryRestoreUncertain(ctx);
    this.#assignOwners(state);
    await this.#recordAddresses(ctx, state);
    for (const { address } of records.all()) pools.use(address);
    for (const address of podRecords.addresses()) pools.use(address);
    for (const address of records.last()) pools.continueAfter(address);
    // the mirror may lack records that exist
    if (!ctx.isStateLocal) ctx.beforeCommit(this.#releaseLeaked(ctx, state));
    for (const err of this.#subnetProblems(state))
      ctx.log.error({ err }, 'pods of this node cannot be reached from everywhere');
    return state;
  }

  #readRecords(ctx: ResyncContext): Promise<AddressRecords> {
    const { contivCidr, podSubnetCidr } = this.#deps.conf.ipam();
    const families = addressList(contivCidr || podSubnetCidr).map(familyOfAddress);
    return AddressRecords.readBack(ctx, this.#deps.store, families);
  }

  problems(): readonly CodedError[] {
    const { known } = this.state;
    if (!known) return [];
    return [...(known.problem ? [known.problem] : []), ...this.#subnetProblems(known)];
  }

  #subnetProblems({ plan, pools, records, owned }: IpamState): readonly CodedError[] {
    const outside: AddressRecord[] = [];
    for (const addresses of owned.values())
      for (const address of pools.outsideOf(addresses)) {
        const record = records.get(address);
        if (record) outside.push(record);
      }
    return subnetProblems(plan, outside);
  }

  #planWith(config: IpamConfig, records: AddressRecords) {
    const { conf, nodes, pods } = this.#deps;
    const plan = planOf({
      nodeId: nodes.thisNode().id,
      config,
      defaultGateways: conf.defaultGateways(),
      podSubnets: this.#isExternal ? podCidrs(nodes.allNodes()) : undefined,
    });
    const attachments = pods.attachments();
    const pools = poolsOf(plan);
    // an external IPAM allocates from subnets of its own, which the agent cannot keep
    const outside = records
      .all()
      .filter(
        ({ address, attachment, external }) =>
          !(external && this.#isExternal) &&
          attachments.has(attachment) &&
          !pools.contains(address),
      );
    return { plan, outside };
  }

  async update(ctx: UpdateContext, state: IpamState): Promise<UpdateResult> {
    if (AddPod.is(ctx.event)) return this.#add(ctx, state, ctx.event.payload);
    if (KubeStateChange.is(ctx.event)) {
      const { key, current } = ctx.event.payload;
      for (const address of state.podRecords.set(key, current))
        await this.#allocation.updateUse(ctx, state, address);
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
   * attachment in one family the newer one is the last allocated, or the one that no Pod record contains yet.
   */
  #assignOwners({ records, podRecords, pools, owned }: IpamState): void {
    const attachments = this.#deps.pods.attachments();
    owned.clear();
    const isNewer = (address: string): boolean =>
      records.isLast(address) || !podRecords.has(address);
    for (const { attachment, address } of records.all()) {
      if (attachment === '' || !attachments.has(attachment)) continue;
      const before = owned.get(attachment) ?? [];
      const family = familyOfAddress(address);
      const other = before.find((one) => familyOfAddress(one) === family);
      if (other !== undefined && (records.isLast(other) || !isNewer(address))) continue;
      owned.set(attachment, pools.inOrder([...before.filter((one) => one !== other), address]));
    }
  }

  /**
   * Records the addresses of adopted attachments, and of those whose address record was lost. The link
   * of a running pod decides which attachment owns an address.
   */
  async #recordAddresses(ctx: ResyncContext, state: IpamState): Promise<void> {
    for (const [attachment, one] of this.#deps.pods.attachments()) {
      const known = state.owned.get(attachment) ?? [];
      for (const address of await this.#actualAddresses(ctx, state, attachment, one)) {
        const family = familyOfAddress(address);
        const before = known.find((other) => familyOfAddress(other) === family);
        await this.#recordAddress(ctx, state, { attachment, ...one }, address, before);
      }
    }
    this.#assignOwners(state);
  }

  /** Those on the link of an adopted attachment; else those that are known, and those that VPP has where a record is missing. */
  async #actualAddresses(
    ctx: ResyncContext,
    { owned, pools, podRecords, records }: IpamState,
    id: AttachmentId,
    { adopted, pod }: Attachment,
  ): Promise<readonly string[]> {
    const known = owned.get(id) ?? [];
    if (adopted?.address !== undefined) return addressesOfLink(adopted);
    const lacking = new Set(pools.without(known).map(({ family }) => family));
    const isLost = (address: string): boolean =>
      lacking.has(familyOfAddress(address)) && !records.has(address);
    // a pod that was added before its cluster had a second family has none of it
    const mayBeLost =
      known.length === 0 ||
      podRecords.onlyInRecord(resources.pod.key(pod.name, pod.namespace)).some(isLost);
    if (!mayBeLost) return known;
    const inVpp = await this.#deps.pods.addressesInVpp(ctx, id);
    const others = inVpp.filter((one) => known.length === 0 || lacking.has(familyOfAddress(one)));
    return [...known, ...others];
  }

  /** @param known address of the attachment in the family of this one */
  async #recordAddress(
    ctx: ResyncContext,
    { records }: IpamState,
    { attachment, pod, podUid }: Pick<AddressRecord, 'attachment' | 'pod' | 'podUid'>,
    address: string,
    known: string | undefined,
  ): Promise<void> {
    // the name of the pod may have become known since
    const isNamed = podIdText(records.get(address)?.pod ?? unknownPod) !== podIdText(unknownPod);
    const isUnknown = podIdText(pod) === podIdText(unknownPod);
    if (address === known && (isNamed || isUnknown)) return;
    const external = this.#isExternal && { external: true as const };
    if (known !== undefined && known !== address) await records.clearOwner(ctx, known);
    await records.put(ctx, { address, pod, podUid, attachment, ...external });
    ctx.log.warn({ address, pod: podIdText(pod) }, 'recorded the address of a running pod');
  }

  podAddresses(attachment: AttachmentId): readonly string[] {
    return this.state.known?.owned.get(attachment) ?? [];
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
    const last = known?.records.last().join();
    return JSON.stringify({ pool: String(known?.pools), last: last || undefined, allocations });
  }

  get #isExternal(): boolean {
    return this.#deps.conf.ipam().useExternalIpam;
  }

  /** If the pod subnet of this node has changed, everything is recalculated. */
  #nodeUpdate(
    ctx: UpdateContext,
    state: IpamState,
    { nodeName, current }: NodeUpdatePayload,
  ): UpdateResult {
    const { name } = this.#deps.nodes.thisNode();
    state.plan = withPodSubnets(state.plan, podCidrs(this.#deps.nodes.allNodes()));
    if (nodeName !== name || !current) return {};
    const changed = this.families().find(
      (one) => one.podSubnetOtherNode(current.id) !== one.podSubnetThisNode(),
    );
    if (!changed) return {};
    const localPodCidr = changed.podSubnetOtherNode(current.id);
    ctx.followUp(PodCidrChange.event({ localPodCidr }));
    return { change: `pod subnet of this node is now ${localPodCidr}; a resync follows` };
  }

  /** The configured subnets take effect when the last pod that they would cut off is deleted. */
  #followDrain(ctx: UpdateContext, { problem, owned }: IpamState): void {
    if (!(problem instanceof SubnetsInUseError) || owned.size > 0) return;
    ctx.followUp(PodCidrChange.event({ localPodCidr: this.podSubnetThisNode() }));
  }

  async #releaseLeaked(ctx: ResyncContext, state: IpamState): Promise<void> {
    const { records, podRecords, owned } = state;
    for (const { address, attachment, pod, external } of records.all()) {
      if (owned.get(attachment)?.includes(address)) continue;
      if (!podRecords.has(address) || external)
        ctx.log.info({ address, pod: podIdText(pod) }, 'releasing the address of a deleted pod');
      await this.#allocation.updateUse(ctx, state, address);
    }
  }

  /** Allocates an address of each family of which the attachment has none. */
  async #add(ctx: UpdateContext, state: IpamState, payload: AddPodPayload): Promise<UpdateResult> {
    const attachment = this.#deps.pods.idOf(payload);
    const known = state.owned.get(attachment) ?? [];
    const pools = state.pools.without(known);
    if (pools.length === 0) {
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
    const { pod, podUid } = payload;
    const owner = { pod: { namespace: pod.namespace, name: pod.name }, podUid, attachment };
    const addresses = this.#isExternal
      ? await this.#allocation.acceptExternal(ctx, state, payload.ipamData, owner, pools)
      : await this.#allocation.allocate(ctx, state, owner, pools);
    state.owned.set(attachment, state.pools.inOrder([...known, ...addresses]));
    return { change: `address ${addresses.join(', ')} for ${podIdText(payload.pod)}` };
  }

  /** Releases the addresses of an attachment; each is reserved while a Pod record contains it. */
  async #release(
    ctx: UpdateContext,
    state: IpamState,
    attachment: AttachmentId,
  ): Promise<UpdateResult> {
    const { owned, podRecords } = state;
    const addresses = owned.get(attachment);
    if (addresses === undefined) return {};
    owned.delete(attachment);
    try {
      for (const address of addresses) await this.#allocation.updateUse(ctx, state, address);
    } catch (error) {
      // the runtime repeats its DEL, which would find nothing to release
      owned.set(attachment, addresses);
      throw error;
    }
    const released = addresses.map((address) => {
      const isReserved = podRecords.has(address);
      return `address ${address} is ${isReserved ? 'reserved until its Pod record is deleted' : 'free'}`;
    });
    return { change: released.join('; ') };
  }
}
