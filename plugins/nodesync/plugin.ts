/** Event handler that keeps the nodes of the cluster in step: IDs and addresses. */
import { StoreRefusedError, StoreUnavailableError } from '#datastore/api.ts';
import { Slices } from '#infra/clock/slices.ts';
import type { Pod } from '#kubernetes/models/pod.ts';
import type { VppNode } from '#kubernetes/models/vpp-node.ts';
import { resources } from '#kubernetes/resources/resources.ts';
import { type IpFamily, ipFamily, parseCidr } from '#models/ip.ts';
import type { ContivConfApi } from '#plugins/contivconf/api.ts';
import { FatalError } from '#plugins/controller/api/errors.ts';
import { type Event, EventMethod } from '#plugins/controller/api/event.ts';
import type {
  EventHandler,
  KubeState,
  ResyncContext,
  UpdateContext,
  UpdateResult,
} from '#plugins/controller/api/event-handler.ts';
import {
  DbResync,
  KubeStateChange,
  type KubeStateChangePayload,
} from '#plugins/controller/api/events.ts';
import { podAddressOwner } from '#plugins/ipam/api.ts';
import { AddressOverlaps, type OverlapContext } from './address-overlaps.ts';
import { type Node, type NodeSyncApi, NodeUpdate, type PortContext } from './api.ts';
import {
  type AllocatedId,
  allocateId,
  type IdAllocatorDeps,
  type IdsOfPods,
  idConflictError,
  idRecordKey,
  idRecordText,
  readIdRecord,
} from './id-allocator.ts';
import { NodeTable, vppAddresses } from './node-table.ts';

export interface NodeSyncDeps extends IdAllocatorDeps {
  readonly conf: Pick<ContivConfApi, 'ipam'>;
}

export interface NodeSyncHandler extends EventHandler, NodeSyncApi {
  /** How many pods of other nodes have addresses out of this node's network: any is an alarm. */
  overlaps(): number;
}

export function createNodeSync(deps: NodeSyncDeps): NodeSyncHandler {
  return new NodeSync(deps);
}

/** How soon after a write that failed a change has it tried again. */
const RETRY_MS = 10_000;

class NodeSync implements NodeSyncHandler {
  readonly name = 'nodesync';
  readonly #deps: NodeSyncDeps;
  readonly #overlaps = new AddressOverlaps();
  #table = new NodeTable();
  #id: number | undefined;
  /** Made once: the configuration does not change. */
  #idOf: ((address: string) => number | undefined) | undefined;
  /** VPP addresses of this node as they are meant to be announced. */
  #addresses: readonly string[] = [];
  /** What stands in the cluster under our ID; undefined: not known, to be read. */
  #recordText: string | undefined;
  /**
   * The cluster's store did not take a write; nothing is tried before the next snapshot comes from
   * it, or a change some time later.
   */
  #storeUnavailable = false;
  /** When that was, on the monotonic clock; undefined: all that was to be announced is. */
  #failedAt: number | undefined;

  constructor(deps: NodeSyncDeps) {
    this.#deps = deps;
  }

  handlesEvent(event: Event): boolean {
    if (event.kind.method(event.payload) !== EventMethod.Update) return true;
    // what changes before a resync has gone through is part of what the next one reads
    if (!KubeStateChange.is(event) || this.#id === undefined) return false;
    const { resource } = event.payload;
    return resource === 'node' || resource === 'vppnode' || resource === 'pod';
  }

  async resync(ctx: ResyncContext): Promise<void> {
    this.#table = await NodeTable.read(ctx.kubeState, new Slices(ctx.clock));
    if (DbResync.is(ctx.event)) this.#storeUnavailable = ctx.event.payload.local;
    if (this.#id === undefined || this.#idUnconfirmed(ctx)) await this.#allocateId(ctx);
    const around = this.#overlapContext(ctx);
    if (around) await this.#overlaps.checkAll(around, ctx.kubeState, new Slices(ctx.clock));
  }

  async update(ctx: UpdateContext): Promise<UpdateResult | undefined> {
    const result = await this.#change(ctx);
    await this.#retryAnnouncement(ctx);
    return result;
  }

  async #change(ctx: UpdateContext): Promise<UpdateResult | undefined> {
    const change = ctx.event.payload as KubeStateChangePayload;
    if (change.resource === 'pod') {
      const around = this.#overlapContext(ctx);
      if (around) this.#overlaps.check(around, change.key, change.current as Pod | undefined);
      return undefined;
    }
    const affected = this.#affected(change);
    const before = new Map(affected.map((name) => [name, this.#node(name)]));
    if (change.resource === 'vppnode') this.#table.setVppNode(change.key, change.current);
    else this.#table.setKubeNode(change.key, change.current);

    const changed: string[] = [];
    for (const [nodeName, previous] of before) {
      const current = this.#node(nodeName);
      if (sameNode(previous, current, this.#podCidrCounts)) continue;
      changed.push(nodeName);
      ctx.followUp(NodeUpdate.event({ nodeName, previous, current }));
    }
    await this.#handleIdRecordChange(ctx);
    if (changed.length === 0) return undefined;
    return { change: `nodes changed: ${changed.join(', ')}` };
  }

  revert(): void {}

  overlaps(): number {
    return this.#overlaps.count;
  }

  thisNode(): Node {
    if (this.#id === undefined)
      throw new FatalError('the ID of this node is not known before the first resync');
    const kube = this.#table.kubeNode(this.#deps.nodeName);
    return {
      id: this.#id,
      name: this.#deps.nodeName,
      vppAddresses: this.#addresses,
      managementAddresses: kube?.managementAddresses ?? [],
      podCidr: kube?.podCidr ?? '',
    };
  }

  allNodes(): ReadonlyMap<string, Node> {
    const nodes = this.#table.nodes();
    if (this.#id !== undefined) nodes.set(this.#deps.nodeName, this.thisNode());
    return nodes;
  }

  async publishAddresses(
    ctx: PortContext,
    addresses: readonly string[],
    family: IpFamily,
  ): Promise<void> {
    const others = this.#addresses.filter((address) => familyOf(address) !== family);
    this.#addresses = [...new Set([...others, ...addresses])];
    await this.#announce(ctx);
  }

  describeInternalData(): string {
    const nodes = [...this.allNodes()].sort(([a], [b]) => (a < b ? -1 : 1));
    return JSON.stringify({ id: this.#id, nodes });
  }

  /** undefined where addresses of pods say nothing about IDs. */
  #overlapContext(ctx: PortContext): OverlapContext | undefined {
    const config = this.#deps.conf.ipam();
    if (config.useExternalIpam || this.#id === undefined) return undefined;
    this.#idOf ??= podAddressOwner(config);
    return {
      own: this.thisNode(),
      others: () => this.allNodes(),
      idOf: this.#idOf,
      log: ctx.log,
    };
  }

  /** This node as the others see it is what it says itself, not what the cluster reflects. */
  #node(name: string): Node | undefined {
    if (name === this.#deps.nodeName && this.#id !== undefined) return this.thisNode();
    return this.#table.node(name);
  }

  /** Where this agent divides the pods' addresses itself, nobody needs what Kubernetes says. */
  get #podCidrCounts(): boolean {
    return this.#deps.conf.ipam().useExternalIpam;
  }

  /** Names of the nodes that a change may be about; of the same node, the ID is not news. */
  #affected({ resource, key, previous, current }: KubeStateChangePayload): string[] {
    if (resource === 'node') {
      const name = resources.node.parseKey(key)?.name;
      return name === undefined ? [] : [name];
    }
    const names = [previous, current].map((value) => (value as VppNode | undefined)?.name ?? '');
    return [...new Set(names)].filter((name) => name !== '' && name !== this.#deps.nodeName);
  }

  /** Whether a look into the cluster must confirm the claim. The local mirror confirms nothing. */
  #idUnconfirmed(ctx: ResyncContext): boolean {
    if (!DbResync.is(ctx.event) || ctx.event.payload.local) return false;
    return this.#table.holder(this.#id!)?.name !== this.#deps.nodeName;
  }

  async #allocateId(ctx: ResyncContext | UpdateContext): Promise<void> {
    const pods = () => this.#idsOfPods(ctx.kubeState);
    const claim = await allocateId(ctx, this.#deps, this.#storeUnavailable, pods);
    if (claim.text === undefined) {
      this.#storeUnavailable = true;
      this.#failedAt ??= ctx.clock.monotonic();
    }
    const first = this.#id === undefined;
    this.#id = claim.id;
    this.#recordText = claim.text;
    if (first) this.#addresses = addressesOf(claim);
    else await this.#announce(ctx);
    ctx.log.info({ id: claim.id }, 'ID of this node');
  }

  /**
   * Somebody else under our ID is an alarm. A record that is gone is written again, unless the node
   * itself has left the cluster: then the reflector has taken it away on purpose.
   */
  async #handleIdRecordChange(ctx: UpdateContext): Promise<void> {
    const { nodeName } = this.#deps;
    if (this.#id === undefined) return;
    const change = ctx.event.payload as KubeStateChangePayload;
    const ours =
      change.resource === 'vppnode' && change.key === resources.vppnode.key(String(this.#id), '');
    const holder = this.#table.holder(this.#id);
    if (ours && holder && holder.name !== nodeName)
      throw idConflictError(this.#id, nodeName, holder.name);
    const gone = ours && change.current === undefined;
    const back =
      change.resource === 'node' &&
      change.previous === undefined &&
      resources.node.parseKey(change.key)?.name === nodeName;
    if (holder || !(gone || back) || !this.#table.kubeNode(nodeName)) return;
    ctx.log.warn({ id: this.#id }, 'the record of this node is gone, it is written again');
    await this.#allocateId(ctx);
  }

  /** @throws FatalError */
  async #announce(ctx: PortContext): Promise<void> {
    if (this.#storeUnavailable) return;
    try {
      await this.#write(ctx);
      this.#failedAt = undefined;
    } catch (cause) {
      if (!(cause instanceof StoreUnavailableError || cause instanceof StoreRefusedError))
        throw cause;
      // the outcome is not known: what stands there is read again before the next write
      this.#recordText = undefined;
      this.#storeUnavailable = true;
      this.#failedAt = ctx.clock.monotonic();
      ctx.log.warn({ err: cause }, 'addresses of this node cannot be announced now');
    }
  }

  /**
   * One write may fail while nothing else does, so that no snapshot follows; but who hears of a
   * change hears of it from the store. A node that has left the cluster announces nothing.
   */
  async #retryAnnouncement(ctx: UpdateContext): Promise<void> {
    if (this.#failedAt === undefined || this.#id === undefined) return;
    const { nodeName } = this.#deps;
    const holder = this.#table.holder(this.#id);
    if (!this.#table.kubeNode(nodeName) && holder?.name !== nodeName) return;
    if (ctx.clock.monotonic() - this.#failedAt < RETRY_MS) return;
    this.#storeUnavailable = false;
    await this.#announce(ctx);
  }

  /** Brings the record in the cluster up to date. @throws StoreUnavailableError, FatalError */
  async #write(ctx: PortContext): Promise<void> {
    const { cluster, nodeName } = this.#deps;
    const id = this.thisNode().id;
    const key = idRecordKey(id);
    const wanted = idRecordText(id, nodeName, this.#addresses);
    if (this.#recordText !== undefined && this.#isAnnouncedBy(this.#recordText, key)) return;
    if (this.#recordText !== undefined && (await this.#swap(ctx, key, this.#recordText, wanted)))
      return;
    // somebody has touched the record, or it was never seen
    const { value } = await ctx.callPort(`cluster store/put-if-absent ${key}`, () =>
      cluster.putIfAbsent(key, wanted),
    );
    const holder = readIdRecord(value, key)?.name;
    if (holder !== nodeName)
      throw idConflictError(id, nodeName, holder ?? '(a record that cannot be read)');
    this.#recordText = value;
    if (this.#isAnnouncedBy(value, key)) return;
    if (!(await this.#swap(ctx, key, value, wanted))) this.#recordText = undefined;
  }

  async #swap(ctx: PortContext, key: string, expected: string, text: string): Promise<boolean> {
    const swapped = await ctx.callPort(`cluster store/compare-and-swap ${key}`, () =>
      this.#deps.cluster.compareAndSwap(key, expected, text),
    );
    if (swapped) this.#recordText = text;
    return swapped;
  }

  #isAnnouncedBy(text: string, key: string): boolean {
    const record = readIdRecord(text, key);
    // nobody believes a record that says another ID than its key
    if (record === undefined || record.id !== this.#id) return false;
    return sameTexts(vppAddresses(record), this.#addresses);
  }

  #idsOfPods(state: KubeState): IdsOfPods {
    const owner = podAddressOwner(this.#deps.conf.ipam());
    const own = this.#table.kubeNode(this.#deps.nodeName)?.managementAddresses ?? [];
    const here = new Map<number, number>();
    const elsewhere = new Set<number>();
    for (const value of state.get('pod')?.values() ?? []) {
      const pod = value as Pod;
      const id = owner(pod.ip_address);
      if (id === undefined) continue;
      if (own.includes(pod.host_ip_address)) here.set(id, (here.get(id) ?? 0) + 1);
      else elsewhere.add(id);
    }
    const [most] = [...here].sort(([a, m], [b, n]) => n - m || a - b);
    return { here: most?.[0], elsewhere };
  }
}

function addressesOf(claim: AllocatedId): readonly string[] {
  const record =
    claim.text === undefined ? undefined : readIdRecord(claim.text, idRecordKey(claim.id));
  return record ? vppAddresses(record) : [];
}

function familyOf(cidr: string): IpFamily | undefined {
  const parsed = parseCidr(cidr);
  return parsed && ipFamily(parsed.address);
}

function sameTexts(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((text, position) => text === b[position]);
}

function sameNode(a: Node | undefined, b: Node | undefined, podCidrCounts: boolean): boolean {
  if (!a || !b) return a === b;
  return (
    a.id === b.id &&
    (!podCidrCounts || a.podCidr === b.podCidr) &&
    sameTexts(a.vppAddresses, b.vppAddresses) &&
    sameTexts(a.managementAddresses, b.managementAddresses)
  );
}
