/** Event handler that synchronizes the nodes of the cluster: IDs and addresses. */
import { type KvEntry, StoreRefusedError, StoreUnavailableError } from '#datastore/api.ts';
import { Slices } from '#infra/clock/slices.ts';
import { deepFreeze } from '#infra/collections/deep-freeze.ts';
import type { CodedError } from '#infra/errors/errors.ts';
import type { Pod } from '#kubernetes/models/pod.ts';
import { hasReleaseMark } from '#kubernetes/models/release-mark.ts';
import type { VppNode, Wireguard } from '#kubernetes/models/vpp-node.ts';
import { resources } from '#kubernetes/resources/resources.ts';
import { type IpFamily, ipFamily, parseCidr } from '#models/ip.ts';
import type { ContivConfApi } from '#plugins/contivconf/api.ts';
import { type Event, EventMethod } from '#plugins/controller/api/event.ts';
import type {
  EventHandler,
  KubeState,
  ResyncContext,
  UpdateContext,
  UpdateResult,
} from '#plugins/controller/api/event-handler.ts';
import { KubeStateChange, type KubeStateChangePayload } from '#plugins/controller/api/events.ts';
import { HandlerState } from '#plugins/controller/api/handler-state.ts';
import { podAddressOwner, unusableNodeIds } from '#plugins/ipam/api.ts';
import { AddressOverlaps, type OverlapContext } from './address-overlaps.ts';
import { type Node, type NodeSyncApi, NodeUpdate, type PortContext } from './api.ts';
import {
  type AllocatedId,
  type Announcement,
  allocateId,
  type IdAllocatorDeps,
  idConflictError,
  idRecordKey,
  idRecordText,
  type NodeState,
  readIdRecord,
} from './id-allocator.ts';
import { idsOfPods } from './ids-of-pods.ts';
import { NodeAddressError, nodeNameError } from './node-problems.ts';
import { NodeTable, vppAddresses } from './node-table.ts';

export interface NodeSyncDeps extends IdAllocatorDeps {
  readonly conf: Pick<ContivConfApi, 'ipam' | 'defaultGateways'>;
}

export interface NodeSyncHandler extends EventHandler, NodeSyncApi {
  /**
   * Allocates the ID before the first resync, which finds it in the local store. Only for a node that
   * cannot reach the cluster's store when that resync runs.
   * @returns its record; undefined: another node has the ID, or the cluster's store does not answer
   * @throws AbortEventError, FatalError
   */
  reserveId(ctx: PortContext, state: KubeState): Promise<KvEntry | undefined>;
  /** Number of pods of other nodes with addresses of this node; above 0 is an error. */
  overlaps(): number;
}

export function createNodeSync(deps: NodeSyncDeps): NodeSyncHandler {
  return new NodeSync(deps);
}

/** Minimum delay after a failed write before a change retries it. */
const RETRY_MS = 10_000;

/** The nodes, and this one among them. */
interface Nodes {
  readonly table: NodeTable;
  /** A resync may change it; an update may write its record again. */
  id: number;
  /** The content of the record that this node publishes. */
  announced: Announcement;
}

interface State extends Nodes {
  readonly overlaps: AddressOverlaps;
  /** Problems of this node that its own records show. */
  ownErrors: readonly CodedError[];
}

class NodeSync implements NodeSyncHandler, EventHandler<State> {
  readonly name = 'nodesync';
  readonly state = new HandlerState<State>(this.name);
  readonly #deps: NodeSyncDeps;
  /** Created once: the configuration does not change. */
  #idOf: ((address: string) => number | undefined) | undefined;
  /** Another node has the ID of this one, too. */
  #conflict: CodedError | undefined;
  /** In the stores, too; that of the state is another one after a resync that was aborted. */
  #allocatedId: number | undefined;
  /** Text of the record of this node in the cluster's store; undefined: unknown, must be read. */
  #recordText: string | undefined;
  /**
   * A write to the cluster's store failed; the next write waits until the store was read again, or for a change
   * after `RETRY_MS`.
   */
  #storeUnavailable = false;
  /** When the write failed, on the monotonic clock; undefined: all addresses are published. */
  #failedAt: number | undefined;

  constructor(deps: NodeSyncDeps) {
    this.#deps = deps;
  }

  handlesEvent(event: Event): boolean {
    if (event.kind.method(event.payload) !== EventMethod.Update) return true;
    if (!KubeStateChange.is(event)) return false;
    const { resource } = event.payload;
    return resource === 'node' || resource === 'vppnode' || resource === 'pod';
  }

  async resync(ctx: ResyncContext, previous: State | undefined): Promise<State> {
    const slices = new Slices(ctx.clock);
    const table = await NodeTable.read(ctx.kubeState, slices);
    if (ctx.isStateNew) this.#storeUnavailable = ctx.isStateLocal;
    const before = previous?.id === this.#allocatedId ? previous : undefined;
    const nodes =
      before && !this.#isIdUnconfirmed(ctx, table, before.id)
        ? { ...before, table }
        : await this.#allocateId(ctx, table, before);
    const overlaps = new AddressOverlaps(previous?.overlaps);
    const state: State = { ...nodes, overlaps, ownErrors: previous?.ownErrors ?? [] };
    const context = this.#overlapContext(ctx, state);
    if (context) await overlaps.checkAll(context, ctx.kubeState, new Slices(ctx.clock));
    this.#checkThisNode(ctx, state);
    return state;
  }

  async reserveId(ctx: PortContext, state: KubeState): Promise<KvEntry | undefined> {
    const { known } = this.state;
    const table = await NodeTable.read(state, new Slices(ctx.clock));
    const { id, text } = await allocateId(
      ctx,
      this.#deps,
      false,
      this.#nodeState(state, table, known, true),
    );
    return text === undefined ? undefined : { key: idRecordKey(id), value: text };
  }

  async update(ctx: UpdateContext, state: State): Promise<UpdateResult | undefined> {
    const result = await this.#change(ctx, state);
    await this.#retryAnnouncement(ctx, state);
    return result;
  }

  async #change(ctx: UpdateContext, state: State): Promise<UpdateResult | undefined> {
    const { table } = state;
    const change = ctx.event.payload as KubeStateChangePayload;
    if (change.resource === 'pod') {
      const context = this.#overlapContext(ctx, state);
      if (context) state.overlaps.check(context, change.key, change.current as Pod | undefined);
      return undefined;
    }
    const affected = this.#affected(table, change);
    const before = new Map(affected.map((name) => [name, this.#node(state, name)]));
    if (change.resource === 'vppnode') table.setVppNode(change.key, change.current);
    else table.setKubeNode(change.key, change.current);

    const changed: string[] = [];
    for (const [nodeName, previous] of before) {
      const current = this.#node(state, nodeName);
      if (sameNode(previous, current, this.#podCidrCounts)) continue;
      changed.push(nodeName);
      ctx.followUp(NodeUpdate.event({ nodeName, previous, current }));
    }
    await this.#handleIdRecordChange(ctx, state);
    this.#checkThisNode(ctx, state);
    if (changed.length === 0) return undefined;
    return { change: `nodes changed: ${changed.join(', ')}` };
  }

  problems(): readonly CodedError[] {
    const { ownErrors = [] } = this.state.known ?? {};
    return this.#conflict ? [this.#conflict, ...ownErrors] : ownErrors;
  }

  overlaps(): number {
    return this.state.known?.overlaps.count ?? 0;
  }

  thisNode(): Node {
    return this.#thisNode(this.state.current);
  }

  #thisNode({ table, id, announced }: Nodes): Node {
    const kube = table.kubeNode(this.#deps.nodeName);
    return {
      id,
      name: this.#deps.nodeName,
      vppAddresses: announced.addresses,
      ...(announced.wireguard && { wireguard: announced.wireguard }),
      managementAddresses: kube?.managementAddresses ?? [],
      podCidr: kube?.podCidr ?? '',
    };
  }

  allNodes(): ReadonlyMap<string, Node> {
    const { known } = this.state;
    return known ? this.#allNodes(known) : new Map();
  }

  #allNodes(state: Nodes): ReadonlyMap<string, Node> {
    const own = this.#thisNode(state);
    return new Map(state.table.nodes()).set(own.name, own);
  }

  publishAddresses(
    ctx: Pick<ResyncContext, 'onSuccess'>,
    addresses: readonly string[],
    family: IpFamily,
  ): void {
    const state = this.state.current;
    const { announced } = state;
    const others = announced.addresses.filter((address) => familyOf(address) !== family);
    state.announced = deepFreeze({
      ...announced,
      addresses: [...new Set([...others, ...addresses])],
    });
    ctx.onSuccess((later) => this.#announce(later, state));
  }

  publishKeys(ctx: Pick<ResyncContext, 'onSuccess'>, wireguard: Wireguard | undefined): void {
    const state = this.state.current;
    state.announced = deepFreeze({ ...state.announced, wireguard });
    ctx.onSuccess((later) => this.#announce(later, state));
  }

  isPublished(): boolean {
    const { known } = this.state;
    return (
      known !== undefined &&
      this.#recordText !== undefined &&
      isAnnouncedBy(known, this.#recordText, idRecordKey(known.id))
    );
  }

  describeInternalData(): string {
    const nodes = [...this.allNodes()].sort(([a], [b]) => (a < b ? -1 : 1));
    return JSON.stringify({ id: this.state.known?.id, nodes });
  }

  /** undefined if pod addresses do not derive from node IDs. */
  #overlapContext(ctx: PortContext, state: Nodes): OverlapContext | undefined {
    const config = this.#deps.conf.ipam();
    if (config.useExternalIpam) return undefined;
    this.#idOf ??= podAddressOwner(config);
    return {
      own: this.#thisNode(state),
      others: () => this.#allNodes(state),
      idOf: this.#idOf,
      // made only when an overlap is found: nearly all pods have none
      get log() {
        return ctx.log;
      },
    };
  }

  /** For this node its own state, not its records in the cluster. */
  #node(state: Nodes, name: string): Node | undefined {
    return name === this.#deps.nodeName ? this.#thisNode(state) : state.table.node(name);
  }

  /** Whether the pod CIDR of Node objects is used: only with an external IPAM. */
  get #podCidrCounts(): boolean {
    return this.#deps.conf.ipam().useExternalIpam;
  }

  /** Names of the nodes that a change may affect; only a resync can change the ID of this node. */
  #affected(
    table: NodeTable,
    { resource, key, previous, current }: KubeStateChangePayload,
  ): string[] {
    if (resource === 'node') {
      const name = resources.node.parseKey(key)?.name;
      return name === undefined ? [] : [name, ...table.namesakes(name)];
    }
    const names = [previous, current].map((value) => (value as VppNode | undefined)?.name ?? '');
    return [...new Set(names)].filter((name) => name !== '' && name !== this.#deps.nodeName);
  }

  /** Whether the ID must be confirmed in the cluster's store; the local mirror is no confirmation. */
  #isIdUnconfirmed(ctx: ResyncContext, table: NodeTable, id: number): boolean {
    if (!ctx.isStateNew || ctx.isStateLocal) return false;
    return table.holder(id)?.name !== this.#deps.nodeName;
  }

  async #allocateId(
    ctx: ResyncContext | UpdateContext,
    table: NodeTable,
    before: Nodes | undefined,
  ): Promise<Nodes> {
    const isResync = ctx.event.kind.method(ctx.event.payload) !== EventMethod.Update;
    const node = this.#nodeState(ctx.kubeState, table, before, isResync);
    const allocated = await allocateId(ctx, this.#deps, this.#storeUnavailable, node);
    if (allocated.text === undefined) {
      this.#storeUnavailable = true;
      this.#failedAt ??= ctx.clock.monotonic();
    }
    const { id } = allocated;
    this.#allocatedId = id;
    this.#recordText = allocated.text;
    this.#setConflict(ctx, allocated.conflict);
    const isSame = before?.id === id;
    const announced = isSame ? before.announced : deepFreeze(announcementOf(allocated));
    const state: Nodes = { table, id, announced };
    if (isSame) await this.#announce(ctx, state);
    ctx.log.info({ id }, 'node ID allocated');
    return state;
  }

  #nodeState(
    state: KubeState,
    table: NodeTable,
    before: Nodes | undefined,
    isResync: boolean,
  ): NodeState {
    const { nodeName, conf } = this.#deps;
    return {
      announced: before?.announced ?? { addresses: [], wireguard: undefined },
      keepsId: before !== undefined && !isResync,
      pods: () => idsOfPods(state, podAddressOwner(conf.ipam()), table.uniqueAddresses(nodeName)),
      whyUnusable: (id) => this.#whyUnusable(id),
    };
  }

  #whyUnusable(id: number): string | undefined {
    const { conf } = this.#deps;
    try {
      return unusableNodeIds(conf.ipam(), conf.defaultGateways())(id);
    } catch {
      // ipam rejects an invalid address plan
      return undefined;
    }
  }

  #checkThisNode({ log }: PortContext, state: State): void {
    const { nodeName } = this.#deps;
    const { table, id, ownErrors: before } = state;
    const errors: CodedError[] = [];
    const why = this.#whyUnusable(id);
    if (why !== undefined) {
      const text = `ignoring an address of node ${nodeName}: node ID ${id}: ${why}`;
      errors.push(new NodeAddressError(text, { where: idRecordKey(id) }));
    }
    const namesake = table.namesake(nodeName);
    if (namesake !== undefined) errors.push(nodeNameError(nodeName, namesake));
    for (const err of errors)
      if (!before.some(({ message }) => message === err.message)) log.error({ err }, err.message);
    state.ownErrors = errors;
  }

  #setConflict({ log }: PortContext, conflict: CodedError | undefined): void {
    if (conflict && conflict.message !== this.#conflict?.message)
      log.error({ err: conflict }, conflict.message);
    this.#conflict = conflict;
  }

  /**
   * Another node with the ID of this one is reported. A deleted record is written again, unless
   * the node itself has left the cluster: then the reflector has deleted it.
   */
  async #handleIdRecordChange(ctx: UpdateContext, state: State): Promise<void> {
    const { nodeName } = this.#deps;
    const { table, id } = state;
    const change = ctx.event.payload as KubeStateChangePayload;
    const isOwnRecord =
      change.resource === 'vppnode' && change.key === resources.vppnode.key(String(id), '');
    const holder = table.holder(id);
    if (isOwnRecord && holder) {
      const isOther = holder.name !== nodeName;
      this.#setConflict(ctx, isOther ? idConflictError(id, nodeName, holder.name) : undefined);
    }
    const isDeleted = isOwnRecord && change.current === undefined;
    const hasRejoined =
      change.resource === 'node' &&
      change.previous === undefined &&
      resources.node.parseKey(change.key)?.name === nodeName;
    if (holder || !(isDeleted || hasRejoined) || !table.kubeNode(nodeName)) return;
    ctx.log.warn({ id }, 'the record of this node was deleted; writing it again');
    Object.assign(state, await this.#allocateId(ctx, table, state));
  }

  async #announce(ctx: PortContext, state: Nodes): Promise<void> {
    if (this.#storeUnavailable) return;
    try {
      await this.#write(ctx, state);
      this.#failedAt = undefined;
    } catch (cause) {
      if (!(cause instanceof StoreUnavailableError || cause instanceof StoreRefusedError))
        throw cause;
      // the outcome is unknown: the record is read again before the next write
      this.#recordText = undefined;
      this.#storeUnavailable = true;
      this.#failedAt = ctx.clock.monotonic();
      ctx.log.warn({ err: cause }, 'cannot publish the addresses of this node; retrying later');
    }
  }

  /**
   * A single write may fail without a disconnect, so that no resync follows; but a change shows that
   * the store is available. A node that has left the cluster publishes nothing.
   */
  async #retryAnnouncement(ctx: UpdateContext, state: State): Promise<void> {
    if (this.#failedAt === undefined) return;
    const { nodeName } = this.#deps;
    const holder = state.table.holder(state.id);
    if (!state.table.kubeNode(nodeName) && holder?.name !== nodeName) return;
    if (ctx.clock.monotonic() - this.#failedAt < RETRY_MS) return;
    this.#storeUnavailable = false;
    await this.#announce(ctx, state);
  }

  /** Updates the record in the cluster, unless it is that of another node. @throws StoreUnavailableError */
  async #write(ctx: PortContext, state: Nodes): Promise<void> {
    const { cluster, nodeName } = this.#deps;
    const { id, announced } = state;
    const key = idRecordKey(id);
    const wanted = idRecordText(id, nodeName, announced);
    if (this.#recordText !== undefined && isAnnouncedBy(state, this.#recordText, key)) return;
    if (this.#recordText !== undefined && (await this.#swap(ctx, key, this.#recordText, wanted)))
      return;
    // the record was changed by others, or is unknown
    const { value } = await ctx.callPort(`cluster store/put-if-absent ${key}`, () =>
      cluster.putIfAbsent(key, wanted),
    );
    const holder = readIdRecord(value, key)?.name;
    const isOther = holder !== undefined && holder !== nodeName;
    this.#setConflict(ctx, isOther ? idConflictError(id, nodeName, holder) : undefined);
    if (isOther) return;
    this.#recordText = value;
    if (isAnnouncedBy(state, value, key)) return;
    if (!(await this.#swap(ctx, key, value, wanted))) this.#recordText = undefined;
  }

  async #swap(ctx: PortContext, key: string, expected: string, text: string): Promise<boolean> {
    const swapped = await ctx.callPort(`cluster store/compare-and-swap ${key}`, () =>
      this.#deps.cluster.compareAndSwap(key, expected, text),
    );
    if (swapped) this.#recordText = text;
    return swapped;
  }
}

function isAnnouncedBy({ id, announced }: Nodes, text: string, key: string): boolean {
  if (hasReleaseMark(text)) return false;
  const record = readIdRecord(text, key);
  // a record with another ID than its key is invalid
  if (record === undefined || record.id !== id) return false;
  const { addresses, wireguard } = announced;
  return sameTexts(vppAddresses(record), addresses) && sameWireguard(record.wireguard, wireguard);
}

function announcementOf(allocated: AllocatedId): Announcement {
  const record =
    allocated.text === undefined
      ? undefined
      : readIdRecord(allocated.text, idRecordKey(allocated.id));
  // the record may be that of another writer
  const addresses = record ? vppAddresses(record) : [];
  return {
    addresses: addresses.filter((text) => parseCidr(text) !== undefined),
    wireguard: record?.wireguard,
  };
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
    a.namesake === b.namesake &&
    sameTexts(a.vppAddresses, b.vppAddresses) &&
    sameTexts(a.managementAddresses, b.managementAddresses) &&
    sameWireguard(a.wireguard, b.wireguard)
  );
}

function sameWireguard(a: Wireguard | undefined, b: Wireguard | undefined): boolean {
  if (!a || !b) return a === b;
  const texts = ({ keys }: Wireguard): string[] =>
    keys.map(({ public_key, is_replaced }) => `${public_key} ${is_replaced}`);
  return a.port === b.port && sameTexts(texts(a), texts(b));
}
