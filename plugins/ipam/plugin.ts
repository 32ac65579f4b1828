/**
 * Event handler that gives out the addresses of this node. An address is in use while an attachment
 * holds it or a Pod record shows it: others may still send to what they read there.
 */
import type { KvStore } from '#datastore/api.ts';
import { Slices } from '#infra/clock/slices.ts';
import { defineError } from '#infra/errors/errors.ts';
import { resources } from '#kubernetes/resources/resources.ts';
import { parseCidr } from '#models/ip.ts';
import type { ContivConfApi } from '#plugins/contivconf/api.ts';
import { type Event, EventMethod } from '#plugins/controller/api/event.ts';
import type {
  EventHandler,
  ResyncContext,
  RevertContext,
  UpdateContext,
  UpdateResult,
} from '#plugins/controller/api/event-handler.ts';
import { DbResync, KubeStateChange } from '#plugins/controller/api/events.ts';
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
  attachmentId,
  DeletePod,
  type DeletePodPayload,
  type PodManagerApi,
  podIdText,
} from '#plugins/podmanager/api.ts';
import { AddressPool } from './address-pool.ts';
import { AddressRecords } from './address-records.ts';
import { type Allocation, type IpamApi, PodCidrChange } from './api.ts';
import { BaseIpam } from './base-ipam.ts';
import { ExternalAddressError, externalAddress } from './external-address.ts';
import { PodRecordAddresses } from './pod-record-addresses.ts';
import { type Prefix, parsePrefix } from './prefix.ts';

export const AddressesExhaustedError = defineError({
  name: 'AddressesExhaustedError',
  code: 'CV_IPAM_EXHAUSTED',
  remedy: 'Move pods away, or give each node a larger subnet (podSubnetOneNodePrefixLen).',
});

export interface IpamDeps {
  readonly conf: Pick<ContivConfApi, 'ipam' | 'defaultGateway'>;
  readonly nodes: Pick<NodeSyncApi, 'thisNode' | 'allNodes'>;
  readonly pods: Pick<PodManagerApi, 'attachments'>;
  /** Of this node alone; outlives the agent. */
  readonly store: KvStore;
}

export function createIpam(deps: IpamDeps): EventHandler & IpamApi {
  return new Ipam(deps);
}

/** Those of the Node objects that can be read; of the others the arithmetic counts. */
function podCidrs(nodes: ReadonlyMap<string, Node>): ReadonlyMap<number, Prefix> {
  const found = new Map<number, Prefix>();
  for (const { id, podCidr } of nodes.values())
    if (parseCidr(podCidr)) found.set(id, parsePrefix(podCidr, 'podCIDR'));
  return found;
}

class Ipam extends BaseIpam implements EventHandler, IpamApi {
  readonly name = 'ipam';
  readonly #deps: IpamDeps;
  #pool: AddressPool | undefined;
  #podRecords: PodRecordAddresses | undefined;
  /** undefined before the local store was read. */
  #records: AddressRecords | undefined;
  /** Address of each attachment that holds one. */
  readonly #addressByAttachment = new Map<AttachmentId, string>();
  /** Whether the kube state comes from the database itself, not from the local mirror. */
  #stateIsFresh = false;
  /** The attachment that the last Add Pod gave an address to, for the case that it is reverted. */
  #undo: AttachmentId | undefined;

  constructor(deps: IpamDeps) {
    super();
    this.#deps = deps;
  }

  handlesEvent(event: Event): boolean {
    if (event.kind.method(event.payload) !== EventMethod.Update) return true;
    // what changes before a resync has gone through is part of what the next one reads
    if (KubeStateChange.is(event)) return event.payload.resource === 'pod' && !!this.#podRecords;
    if (NodeUpdate.is(event)) return this.#isExternal && !!this.#podRecords;
    return AddPod.is(event) || DeletePod.is(event);
  }

  async resync(ctx: ResyncContext): Promise<void> {
    if (DbResync.is(ctx.event)) this.#stateIsFresh = !ctx.event.payload.local;
    const { conf, nodes } = this.#deps;
    this.updatePlan({
      nodeId: nodes.thisNode().id,
      config: conf.ipam(),
      defaultGateway: conf.defaultGateway(),
      podSubnets: this.#isExternal ? podCidrs(nodes.allNodes()) : undefined,
    });
    const pool = new AddressPool(this.podPrefix);
    const records = this.#records ?? (await AddressRecords.readBack(ctx, this.#deps.store));
    const ours = (address: string): boolean => pool.contains(address);
    const shown = await PodRecordAddresses.read(ctx.kubeState, ours, new Slices(ctx.clock));
    for (const { address, external } of records.all()) if (!external) pool.use(address);
    for (const address of shown.addresses()) pool.use(address);
    if (records.last !== undefined) pool.continueAfter(records.last);

    this.#pool = pool;
    this.#records = records;
    this.#podRecords = shown;
    this.#addressByAttachment.clear();
    const attachments = this.#deps.pods.attachments();
    for (const { attachment, address } of records.all())
      if (attachments.has(attachment)) this.#addressByAttachment.set(attachment, address);
    await this.#releaseLeaked(ctx);
  }

  async update(ctx: UpdateContext): Promise<UpdateResult> {
    if (AddPod.is(ctx.event)) return this.#add(ctx, ctx.event.payload);
    if (KubeStateChange.is(ctx.event)) {
      const { key, current } = ctx.event.payload;
      for (const address of this.#podRecords!.set(key, current))
        await this.#updateUse(ctx, address);
      return {};
    }
    if (NodeUpdate.is(ctx.event)) return this.#nodeUpdate(ctx, ctx.event.payload);
    return this.#release(ctx, attachmentId(ctx.event.payload as DeletePodPayload));
  }

  async revert(ctx: RevertContext): Promise<void> {
    const undo = this.#undo;
    this.#undo = undefined;
    if (undo === undefined || !AddPod.is(ctx.event)) return;
    if (attachmentId(ctx.event.payload) === undo) await this.#release(ctx, undo);
  }

  podAddresses(attachment: AttachmentId): readonly string[] {
    const address = this.#addressByAttachment.get(attachment);
    return address === undefined ? [] : [address];
  }

  allocations(): ReadonlyMap<string, Allocation> {
    const allocations = new Map<string, Allocation>();
    for (const { address, pod, podUid, attachment } of this.#records?.all() ?? []) {
      const holds = this.#addressByAttachment.get(attachment) === address;
      const holder = holds ? attachment : undefined;
      allocations.set(address, { address, pod, podUid, attachment: holder });
    }
    for (const address of this.#podRecords?.addresses() ?? []) {
      if (allocations.has(address)) continue;
      allocations.set(address, {
        address,
        ...this.#podRecords!.firstRecordOf(address)!,
        attachment: undefined,
      });
    }
    return allocations;
  }

  describeInternalData(): string {
    const allocations = [...this.allocations().values()].sort((a, b) =>
      a.address < b.address ? -1 : 1,
    );
    return JSON.stringify({ pool: String(this.#pool), last: this.#records?.last, allocations });
  }

  get #isExternal(): boolean {
    return this.#deps.conf.ipam().useExternalIpam;
  }

  /** The network of this node's pods has changed: everything is worked out anew. */
  #nodeUpdate(ctx: UpdateContext, { nodeName, current }: NodeUpdatePayload): UpdateResult {
    const { name } = this.#deps.nodes.thisNode();
    this.replacePodSubnets(podCidrs(this.#deps.nodes.allNodes()));
    if (nodeName !== name || !current) return {};
    const localPodCidr = this.podSubnetOtherNode(current.id);
    if (localPodCidr === this.podSubnetThisNode()) return {};
    ctx.followUp(PodCidrChange.event({ localPodCidr }));
    return { change: `the pods of this node have ${localPodCidr} now, a resync follows` };
  }

  /** What the mirror does not show may be there all the same: then nothing is dropped. */
  async #releaseLeaked(ctx: ResyncContext): Promise<void> {
    if (!this.#stateIsFresh) return;
    for (const { address, attachment, pod, external } of this.#records!.all()) {
      if (this.#addressByAttachment.get(attachment) === address) continue;
      if (this.#podRecords!.has(address) && !external) continue;
      ctx.log.info({ address, pod: podIdText(pod) }, 'address of a pod that is gone is free again');
      await this.#updateUse(ctx, address);
    }
  }

  async #add(ctx: UpdateContext, payload: AddPodPayload): Promise<UpdateResult> {
    const attachment = attachmentId(payload);
    this.#undo = undefined;
    if (this.#addressByAttachment.has(attachment)) return {};
    if (payload.ipamType !== '' && !this.#isExternal)
      ctx.log.warn(
        { pod: podIdText(payload.pod), ipam: payload.ipamType },
        'the address that another IPAM plugin gave is not used: useExternalIPAM is off',
      );
    const address = this.#isExternal
      ? await this.#acceptExternal(ctx, payload, attachment)
      : await this.#allocate(ctx, payload, attachment);
    this.#addressByAttachment.set(attachment, address);
    this.#undo = attachment;
    return { change: `address ${address} for ${podIdText(payload.pod)}` };
  }

  async #allocate(
    ctx: UpdateContext,
    payload: AddPodPayload,
    attachment: AttachmentId,
  ): Promise<string> {
    const { pod, podUid } = payload;
    const owner = { pod: { namespace: pod.namespace, name: pod.name }, podUid, attachment };
    for (let next = this.#pool!.next(); next !== undefined; next = this.#pool!.next()) {
      // the place to go on from comes first: if the second write fails, an address is passed over
      await this.#records!.setLast(ctx, next);
      this.#pool!.continueAfter(next);
      this.#pool!.use(next);
      if (await this.#records!.create(ctx, { address: next, ...owner })) return next;
      ctx.log.warn({ address: next }, 'address is in use without being known, it is left out');
    }
    // after a boot of the machine most addresses may be kept back: a pod may have its own again
    for (const address of this.#podRecords!.onlyInRecord(
      resources.pod.key(pod.name, pod.namespace),
    )) {
      if (this.#isHeld(address)) continue;
      const record = { address, ...owner };
      const known = this.#records!.get(address);
      const records = this.#records!;
      if (await (known ? records.replace(ctx, known, record) : records.create(ctx, record)))
        return address;
    }
    const held = this.#addressByAttachment.size;
    throw new AddressesExhaustedError(
      `no address is free in ${this.#pool}: ${held} are held by pods, ` +
        `${this.allocations().size - held} are kept back for Pod records that show them`,
      { where: podIdText(pod) },
    );
  }

  /**
   * Takes what another IPAM has given. Two that hold one address cannot be wired: whoever has it
   * keeps it until his DEL comes.
   */
  async #acceptExternal(
    ctx: UpdateContext,
    payload: AddPodPayload,
    attachment: AttachmentId,
  ): Promise<string> {
    const { pod, podUid } = payload;
    const address = externalAddress(payload.ipamData, this.podPrefix.family);
    const before = this.#records!.get(address);
    if (before && this.#addressByAttachment.get(before.attachment) === address)
      throw new ExternalAddressError(
        `${address} was given to ${podIdText(before.pod)}, which still has it`,
        { where: podIdText(pod) },
      );
    const owner = { namespace: pod.namespace, name: pod.name };
    await this.#records!.put(ctx, { address, pod: owner, podUid, attachment, external: true });
    return address;
  }

  #isHeld(address: string): boolean {
    const record = this.#records!.get(address);
    return record !== undefined && this.#addressByAttachment.get(record.attachment) === address;
  }

  /** Frees what an attachment holds; addresses that others still read somewhere are kept back. */
  async #release(ctx: RevertContext, attachment: AttachmentId): Promise<UpdateResult> {
    const address = this.#addressByAttachment.get(attachment);
    if (address === undefined) return {};
    this.#addressByAttachment.delete(attachment);
    await this.#updateUse(ctx, address);
    const kept = this.#podRecords!.has(address)
      ? ' is kept back until its Pod record goes'
      : ' is free';
    return { change: `address ${address}${kept}` };
  }

  /** Brings record and pool in line with who holds and who shows the address. */
  async #updateUse(ctx: RevertContext, address: string): Promise<void> {
    const external = this.#records!.get(address)?.external === true;
    if (this.#isHeld(address) || (this.#podRecords!.has(address) && !external)) {
      if (!external) this.#pool!.use(address);
      return;
    }
    if (this.#records!.has(address)) await this.#records!.delete(ctx, address);
    this.#pool!.release(address);
  }
}
