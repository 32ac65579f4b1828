/**
 * Event handler that manages the attachments of this node. Their records are in the local store from
 * before they are wired until they are deleted, so that a restarted agent finds the pods that kept
 * running. Attachments whose record is missing are adopted: see docs/adoption.md.
 */
import type { KvStore } from '#datastore/api.ts';
import type { DiskStore } from '#datastore/disk-store.ts';
import { rfc3339 } from '#infra/clock/rfc3339.ts';
import { type CodedError, errorText } from '#infra/errors/errors.ts';
import { AbortEventError, causedError, FatalError } from '#plugins/controller/api/errors.ts';
import { type Event, EventMethod } from '#plugins/controller/api/event.ts';
import type {
  EventHandler,
  ResyncContext,
  UpdateContext,
  UpdateResult,
} from '#plugins/controller/api/event-handler.ts';
import { KubeStateChange } from '#plugins/controller/api/events.ts';
import { HandlerState } from '#plugins/controller/api/handler-state.ts';
import type { HostPort, NamespaceIdentity } from '#plugins/controller/api/ports/host.ts';
import type { VppPort } from '#plugins/controller/api/ports/vpp.ts';
import { Table } from '#plugins/controller/api/table.ts';
import {
  AddPod,
  type AddPodPayload,
  type Attachment,
  type AttachmentId,
  attachmentId,
  type ContainerInterface,
  DeletePod,
  type DeletePodPayload,
  type LinkNaming,
  type PodId,
  type PodManagerApi,
  type PortContext,
  podIdText,
} from './api.ts';
import { type AttachmentRecord, sameAttachment } from './attachment-record.ts';
import { AttachmentRecords } from './attachment-records.ts';
import { AttachmentTable } from './attachment-table.ts';
import { HostNamespaceError } from './cni-request.ts';
import { type Differences, LostPods } from './lost-pods.ts';

export interface PodManagerDeps {
  /** Local store of this node; persists across restarts of the agent. */
  readonly store: KvStore;
  /** Loss of the local store; undefined: it is in memory. */
  readonly disk: Pick<DiskStore, 'loss' | 'resolveLoss'> | undefined;
  readonly host: HostPort;
  readonly vpp: VppPort;
  readonly naming: LinkNaming;
  /** Whether an address is in the pod subnet of this node. */
  readonly isLocalAddress: (address: string) => boolean;
}

export interface PodManager extends EventHandler, PodManagerApi {
  /** Resolves when the attachments are known; rejects while they are not, because the last resync was aborted. */
  readonly started: Promise<void>;
  /** Pods that an operator has to look after. */
  problems(): readonly CodedError[];
}

export function createPodManager(deps: PodManagerDeps): PodManager {
  return new Manager(deps);
}

/** Deleted attachments after which VPP is asked which of their interfaces still exist. */
const DELETED_LIMIT = 64;

/** The first resync reads it from the local store; the later ones compare a copy with VPP and Linux. */
interface State {
  readonly bootId: string;
  readonly table: AttachmentTable;
  /** The disk, with the writes of an aborted resync, too. */
  readonly records: AttachmentRecords;
  /** The last comparison with VPP. */
  readonly lost: LostPods;
  /** Their path leads to another network namespace now. */
  displaced: Table<AttachmentId, true>;
  order: number;
}

class Manager implements PodManager, EventHandler<State> {
  readonly name = 'podmanager';
  readonly state = new HandlerState<State>(this.name);
  readonly #deps: PodManagerDeps;

  constructor(deps: PodManagerDeps) {
    this.#deps = deps;
  }

  get started(): Promise<void> {
    return this.state.established;
  }

  handlesEvent(event: Event): boolean {
    if (event.kind.method(event.payload) !== EventMethod.Update) return true;
    if (KubeStateChange.is(event))
      return event.payload.resource === 'pod' && this.state.current.lost.watchesPods;
    return AddPod.is(event) || DeletePod.is(event);
  }

  async resync(ctx: ResyncContext, previous: State | undefined): Promise<State> {
    const state = previous
      ? { ...previous, table: previous.table.copy(ctx.journal) }
      : await this.#readBack(ctx);
    try {
      await this.#refresh(ctx, state, previous === undefined);
    } catch (thrown) {
      if (!previous) throw thrown;
      // the attachments of before are known
      ctx.beforeCommit(Promise.reject(thrown));
    }
    return state;
  }

  async #refresh(ctx: ResyncContext, state: State, isStart: boolean): Promise<void> {
    await restoreRecords(ctx, state);
    const identities = await this.#identities(ctx, state);
    const isFull = ctx.event.kind.method(ctx.event.payload) === EventMethod.FullResync;
    if (isFull || isStart) await compareWithVpp(ctx, state, identities, isStart);
    await learnPods(ctx, state);
    state.displaced = displacedAttachments(ctx, state, identities);
  }

  async update(ctx: UpdateContext, state: State): Promise<UpdateResult> {
    if (AddPod.is(ctx.event)) return this.#add(ctx, state, ctx.event.payload);
    if (KubeStateChange.is(ctx.event)) {
      state.lost.podChanged(ctx.event.payload.key, ctx.event.payload.current);
      return {};
    }
    return this.#delete(ctx, state, ctx.event.payload as DeletePodPayload);
  }

  attachments(): ReadonlyMap<AttachmentId, Attachment> {
    return this.state.known?.table.all() ?? new Map();
  }

  attachmentsOf(pod: PodId): readonly Attachment[] {
    return this.state.known?.table.ofPod(podIdText(pod)) ?? [];
  }

  idOf(link: ContainerInterface): AttachmentId {
    return this.state.known?.table.idOf(link) ?? attachmentId(link);
  }

  isDisplaced(attachment: AttachmentId): boolean {
    return this.state.known?.displaced.has(attachment) ?? false;
  }

  async addressesInVpp(ctx: PortContext, id: AttachmentId): Promise<readonly string[]> {
    const { known } = this.state;
    const record = known?.table.get(id);
    return record && known ? known.lost.addressesInVpp(ctx, record) : [];
  }

  problems(): readonly CodedError[] {
    const { known } = this.state;
    return known?.lost.problems(known.table.all().values()) ?? [];
  }

  describeInternalData(): string {
    return JSON.stringify([...(this.state.known?.table.all().values() ?? [])]);
  }

  /** @throws FatalError: without the records the agent would treat running pods as deleted */
  async #readBack(ctx: ResyncContext): Promise<State> {
    let bootId: string;
    try {
      bootId = await ctx.callPort('host/boot id', () => this.#deps.host.bootId());
    } catch (cause) {
      throw causedError(FatalError, 'cannot read the boot ID of the machine', cause);
    }
    const records = new AttachmentRecords(this.#deps.store);
    const attached = await records.readBack(ctx, bootId);
    const table = new AttachmentTable(ctx.journal);
    for (const record of attached) table.set(record);
    return {
      bootId,
      table,
      records,
      lost: new LostPods(this.#deps),
      displaced: new Table(ctx.journal),
      order: attached.at(-1)?.order ?? 0,
    };
  }

  /** Identity of the namespaces to which the paths lead now; null: to none. */
  async #identities(
    ctx: ResyncContext,
    { table }: State,
  ): Promise<Map<AttachmentId, NamespaceIdentity | null>> {
    const known = [...table.all()].filter(([, { namespaceIdentity }]) => namespaceIdentity);
    if (known.length === 0) return new Map();
    const paths = known.map(([, { networkNamespace }]) => networkNamespace);
    const now = await ctx.callPort('host/namespace identities', () =>
      Promise.all(paths.map((path) => this.#identity(path))),
    );
    return new Map(known.map(([id], position) => [id, now[position] ?? null]));
  }

  async #identity(path: string): Promise<NamespaceIdentity | null> {
    return (await this.#deps.host.namespaceIdentity(path)) ?? null;
  }

  async #add(ctx: UpdateContext, state: State, payload: AddPodPayload): Promise<UpdateResult> {
    const { table, records } = state;
    const [identity, host] = await Promise.all([
      ctx.callPort(`host/namespace identity ${payload.networkNamespace}`, () =>
        this.#identity(payload.networkNamespace),
      ),
      ctx.callPort('host/own namespaces', () => this.#deps.host.ownNamespaces()),
    ]);
    assertOfPod(host, payload.networkNamespace, identity);
    const id = table.idOf(payload);
    const previous = table.get(id);
    const added: AttachmentRecord = {
      containerId: payload.containerId,
      interfaceName: payload.interfaceName,
      pod: { namespace: payload.pod.namespace, name: payload.pod.name },
      podUid: payload.podUid,
      network: payload.network,
      networkNamespace: payload.networkNamespace,
      namespaceIdentity: identity ?? undefined,
      attachedAt: rfc3339(ctx.clock.now()),
      bootId: state.bootId,
      order: state.order + 1,
    };
    const record = previous?.adopted ? completed(previous, added) : added;
    const isCertain = !records.isUncertain(id);
    if (previous && isCertain && sameAttachment(previous, record)) return {};
    let isRecorded = false;
    // stored before it is wired: a crash in between leaves a record that DEL removes, never a wired
    // pod without a record
    ctx.beforeCommit(
      records.put(ctx, record).then(() => {
        isRecorded = true;
      }),
    );
    ctx.onRevert(async (reverting) => {
      // nothing was wired
      if (!isRecorded) return;
      if (previous) await records.put(reverting, previous);
      // VPP may still have its interface, if the undo has failed, too
      else await records.moveToDeleted(reverting, record);
    });
    state.order = record.order;
    forget(state, id);
    table.set(record);
    return { change: `attach ${podIdText(record.pod)} ${record.interfaceName}` };
  }

  /** Deletes the record even of an unknown attachment: an Add Pod may have failed after writing it. */
  async #delete(
    ctx: UpdateContext,
    state: State,
    payload: DeletePodPayload,
  ): Promise<UpdateResult> {
    const { table, records, lost } = state;
    const id = table.idOf(payload);
    const record = table.get(id);
    if (!record) {
      await records.remove(ctx, id);
      return {};
    }
    await records.moveToDeleted(ctx, record);
    forget(state, id);
    if (records.deletedCount > DELETED_LIMIT) {
      await lost.readVpp(ctx);
      await records.dropDeleted(ctx, (one) => lost.isInVpp(one));
    }
    return { change: `detach ${podIdText(payload.pod)} ${payload.interfaceName}` };
  }
}

/** The pods are configured without a disk, too: the next resync tries again. */
async function restoreRecords(ctx: ResyncContext, { records, table }: State): Promise<void> {
  try {
    await records.restoreUncertain(ctx, (id) => table.get(id));
  } catch (cause) {
    const reason = errorText(cause);
    ctx.log.warn({ reason }, 'cannot write the records of attachments whose last write failed');
  }
}

/**
 * Adopts what VPP has and no record explains, and drops what an older copy of the store has and nothing
 * else shows.
 * @throws AbortEventError before the first success: a resync would delete what no record explains
 */
async function compareWithVpp(
  ctx: ResyncContext,
  state: State,
  identities: Map<AttachmentId, NamespaceIdentity | null>,
  isStart: boolean,
): Promise<void> {
  const { bootId, table, records, lost } = state;
  let differences: Differences;
  try {
    differences = await lost.compare(ctx, {
      records: table.all(),
      deleted: records.deleted(),
      identities,
      stateIsFresh: !ctx.isStateLocal,
      isStart,
    });
  } catch (cause) {
    if (isStart)
      throw causedError(
        AbortEventError,
        'cannot compare the attached pods with VPP and Linux',
        cause,
      );
    ctx.log.warn({ err: cause }, 'cannot compare the attached pods with VPP and Linux again');
    return;
  }
  const { removed, found } = differences;
  const added = found.map((attachment, position) => ({
    ...attachment,
    bootId,
    order: state.order + 1 + position,
  }));
  await records.replace(ctx, removed, added);
  await records.dropDeleted(ctx, (record) => lost.isInVpp(record));
  for (const id of removed) table.delete(id);
  for (const record of added) {
    table.set(record);
    identities.delete(attachmentId(record));
  }
  state.order += added.length;
  await lost.resolveLoss(ctx);
}

/** Pods of adopted attachments get their names when their records are known. */
async function learnPods(ctx: ResyncContext, { table, records, lost }: State): Promise<void> {
  const learned = lost.learnPods(ctx, table.all().values());
  const named = learned.map((one) => ({ ...table.get(attachmentId(one))!, ...one }));
  await records.replace(ctx, [], named);
  for (const record of named) table.set(record);
}

/** A path that does not exist any more is no displacement: its values wait for the DEL. */
function displacedAttachments(
  ctx: ResyncContext,
  { table }: State,
  identities: ReadonlyMap<AttachmentId, NamespaceIdentity | null>,
): State['displaced'] {
  const displaced = new Table<AttachmentId, true>(ctx.journal);
  for (const [id, record] of table.all()) {
    const identity = identities.get(id);
    if (!identity || sameIdentity(identity, record.namespaceIdentity)) continue;
    displaced.set(id, true);
    ctx.log.warn(
      { pod: podIdText(record.pod), path: record.networkNamespace },
      'the path leads to another network namespace now; nothing is configured there',
    );
  }
  return displaced;
}

function forget({ table, displaced }: State, id: AttachmentId): void {
  table.delete(id);
  displaced.delete(id);
}

/** In the namespace of the host, the routes of a pod would redirect the traffic of the node. */
function assertOfPod(
  host: readonly NamespaceIdentity[],
  path: string,
  identity: NamespaceIdentity | null,
): void {
  if (identity && host.some((one) => sameIdentity(one, identity)))
    throw new HostNamespaceError('the path leads to the network namespace of the host', {
      where: path,
    });
}

function sameIdentity(a: NamespaceIdentity, b: NamespaceIdentity | undefined): boolean {
  return b !== undefined && a.device === b.device && a.inode === b.inode;
}

/**
 * An adopted attachment that the runtime adds again keeps its id and its link. The path to its namespace
 * stays the same while it leads there.
 */
function completed(adopted: AttachmentRecord, added: AttachmentRecord): AttachmentRecord {
  const { namespaceIdentity: identity } = added;
  const isSame = identity !== undefined && sameIdentity(identity, adopted.namespaceIdentity);
  const { containerId, adopted: link, networkNamespace } = adopted;
  return { ...added, containerId, adopted: link, ...(isSame && { networkNamespace }) };
}
