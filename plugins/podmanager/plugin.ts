/**
 * Event handler that manages the attachments of this node. Their records are in the local store from
 * before they are wired until they are deleted, so that a restarted agent finds the pods that kept
 * running. Attachments whose record is missing are adopted: see docs/adoption.md.
 */
import type { KvStore } from '#datastore/api.ts';
import type { DiskStore } from '#datastore/disk-store.ts';
import { rfc3339 } from '#infra/clock/rfc3339.ts';
import { type CodedError, errorText } from '#infra/errors/errors.ts';
import { AbortEventError, abortedBy, FatalError } from '#plugins/controller/api/errors.ts';
import { type Event, EventMethod } from '#plugins/controller/api/event.ts';
import type {
  EventHandler,
  ResyncContext,
  RevertContext,
  UpdateContext,
  UpdateResult,
} from '#plugins/controller/api/event-handler.ts';
import { DbResync, KubeStateChange } from '#plugins/controller/api/events.ts';
import type { HostPort, NamespaceIdentity } from '#plugins/controller/api/ports/host.ts';
import type { VppPort } from '#plugins/controller/api/ports/vpp.ts';
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
  /** Resolves when the first resync has read the attachments from the local store. */
  readonly started: Promise<void>;
  /** Pods that an operator has to look after. */
  problems(): readonly CodedError[];
}

export function createPodManager(deps: PodManagerDeps): PodManager {
  return new Manager(deps);
}

/** Deleted attachments after which VPP is asked which of their interfaces still exist. */
const DELETED_LIMIT = 64;

class Manager implements PodManager {
  readonly name = 'podmanager';
  readonly started: Promise<void>;
  readonly #deps: PodManagerDeps;
  readonly #resolveStarted: () => void;
  readonly #table = new AttachmentTable();
  readonly #records: AttachmentRecords;
  readonly #lost: LostPods;
  #displaced: ReadonlySet<AttachmentId> = new Set();
  #bootId: string | undefined;
  /** Whether the records were compared with VPP. */
  #compared = false;
  /** Whether the state of Kubernetes was read from the database, not from the local mirror. */
  #stateIsFresh = false;
  #order = 0;
  /** Attachment that the last Add Pod replaced, needed to revert it. */
  #undo:
    | {
        readonly id: AttachmentId;
        readonly previous: AttachmentRecord | undefined;
        isRecorded: boolean;
      }
    | undefined;

  constructor(deps: PodManagerDeps) {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#deps = deps;
    this.#records = new AttachmentRecords(deps.store);
    this.#lost = new LostPods(deps);
    this.started = promise;
    this.#resolveStarted = resolve;
  }

  handlesEvent(event: Event): boolean {
    if (event.kind.method(event.payload) !== EventMethod.Update) return true;
    if (KubeStateChange.is(event))
      return event.payload.resource === 'pod' && this.#lost.watchesPods;
    return AddPod.is(event) || DeletePod.is(event);
  }

  async resync(ctx: ResyncContext): Promise<void> {
    try {
      await this.#resync(ctx);
    } catch (thrown) {
      if (this.#compared) throw thrown;
      throw abortedBy(thrown, 'cannot find out which pods are attached');
    }
  }

  async #resync(ctx: ResyncContext): Promise<void> {
    if (DbResync.is(ctx.event)) this.#stateIsFresh = !ctx.event.payload.local;
    if (this.#bootId === undefined) await this.#readBack(ctx);
    await this.#restoreRecords(ctx);
    const identities = await this.#identities(ctx);
    const isFull = ctx.event.kind.method(ctx.event.payload) === EventMethod.FullResync;
    if (isFull || !this.#compared) await this.#compareWithVpp(ctx, identities);
    await this.#learnPods(ctx);
    this.#findDisplaced(ctx, identities);
    this.#resolveStarted();
  }

  async update(ctx: UpdateContext): Promise<UpdateResult> {
    if (AddPod.is(ctx.event)) return this.#add(ctx, ctx.event.payload);
    if (KubeStateChange.is(ctx.event)) {
      this.#lost.podChanged(ctx.event.payload.key, ctx.event.payload.current);
      return {};
    }
    return this.#delete(ctx, ctx.event.payload as DeletePodPayload);
  }

  async revert(ctx: RevertContext): Promise<void> {
    const undo = this.#undo;
    this.#undo = undefined;
    if (!undo || !AddPod.is(ctx.event) || this.idOf(ctx.event.payload) !== undo.id) return;
    const { id, previous, isRecorded } = undo;
    const failed = this.#table.get(id)!;
    this.#forget(id);
    if (previous) this.#table.set(previous);
    // nothing was wired
    if (!isRecorded) return;
    if (previous) await this.#records.put(ctx, previous);
    // VPP may still have its interface, if the undo has failed, too
    else await this.#records.moveToDeleted(ctx, failed);
  }

  attachments(): ReadonlyMap<AttachmentId, Attachment> {
    return this.#table.all();
  }

  attachmentsOf(pod: PodId): readonly Attachment[] {
    return this.#table.ofPod(podIdText(pod));
  }

  idOf(link: ContainerInterface): AttachmentId {
    return this.#table.idOf(link);
  }

  isDisplaced(attachment: AttachmentId): boolean {
    return this.#displaced.has(attachment);
  }

  async addressInVpp(ctx: PortContext, id: AttachmentId): Promise<string | undefined> {
    const record = this.#table.get(id);
    return record && this.#lost.addressInVpp(ctx, record);
  }

  problems(): readonly CodedError[] {
    return this.#lost.problems(this.#table.all().values());
  }

  describeInternalData(): string {
    return JSON.stringify([...this.#table.all().values()]);
  }

  /** @throws FatalError: without the records the agent would treat running pods as deleted */
  async #readBack(ctx: ResyncContext): Promise<void> {
    let bootId: string;
    try {
      bootId = await ctx.callPort('host/boot id', () => this.#deps.host.bootId());
    } catch (cause) {
      throw new FatalError('cannot read the boot ID of the machine', { cause });
    }
    const records = await this.#records.readBack(ctx, bootId);
    for (const record of records) this.#table.set(record);
    this.#order = records.at(-1)?.order ?? 0;
    this.#bootId = bootId;
  }

  /** The pods are configured without a disk, too: the next resync tries again. */
  async #restoreRecords(ctx: ResyncContext): Promise<void> {
    try {
      await this.#records.restoreUncertain(ctx, (id) => this.#table.get(id));
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
  async #compareWithVpp(
    ctx: ResyncContext,
    identities: Map<AttachmentId, NamespaceIdentity | null>,
  ): Promise<void> {
    let differences: Differences;
    try {
      differences = await this.#lost.compare(ctx, {
        records: this.#table.all(),
        deleted: this.#records.deleted(),
        identities,
        stateIsFresh: this.#stateIsFresh,
        isStart: !this.#compared,
      });
    } catch (cause) {
      if (!this.#compared)
        throw new AbortEventError('cannot compare the attached pods with VPP and Linux', { cause });
      ctx.log.warn({ err: cause }, 'cannot compare the attached pods with VPP and Linux again');
      return;
    }
    const { removed, found } = differences;
    const added = found.map((attachment, position) => ({
      ...attachment,
      bootId: this.#bootId!,
      order: this.#order + 1 + position,
    }));
    await this.#records.replace(ctx, removed, added);
    await this.#records.dropDeleted(ctx, (record) => this.#lost.isInVpp(record));
    for (const id of removed) this.#forget(id);
    for (const record of added) {
      this.#table.set(record);
      identities.delete(attachmentId(record));
    }
    this.#order += added.length;
    this.#compared = true;
    await this.#lost.resolveLoss(ctx);
  }

  /** Pods of adopted attachments get their names when their records are known. */
  async #learnPods(ctx: ResyncContext): Promise<void> {
    const learned = this.#lost.learnPods(ctx, this.#table.all().values());
    const records = learned.map((one) => ({ ...this.#table.get(attachmentId(one))!, ...one }));
    await this.#records.replace(ctx, [], records);
    for (const record of records) this.#table.set(record);
  }

  /** Identity of the namespaces to which the paths lead now; null: to none. */
  async #identities(ctx: ResyncContext): Promise<Map<AttachmentId, NamespaceIdentity | null>> {
    const known = [...this.#table.all()].filter(([, { namespaceIdentity }]) => namespaceIdentity);
    if (known.length === 0) return new Map();
    const paths = known.map(([, { networkNamespace }]) => networkNamespace);
    const now = await ctx.callPort('host/namespace identities', () =>
      Promise.all(paths.map((path) => this.#identity(path))),
    );
    return new Map(known.map(([id], position) => [id, now[position] ?? null]));
  }

  /** A path that does not exist any more is no displacement: its values wait for the DEL. */
  #findDisplaced(
    ctx: ResyncContext,
    identities: ReadonlyMap<AttachmentId, NamespaceIdentity | null>,
  ): void {
    const displaced = new Set<AttachmentId>();
    for (const [id, record] of this.#table.all()) {
      const identity = identities.get(id);
      if (!identity || sameIdentity(identity, record.namespaceIdentity)) continue;
      displaced.add(id);
      ctx.log.warn(
        { pod: podIdText(record.pod), path: record.networkNamespace },
        'the path leads to another network namespace now; nothing is configured there',
      );
    }
    this.#displaced = displaced;
  }

  async #identity(path: string): Promise<NamespaceIdentity | null> {
    return (await this.#deps.host.namespaceIdentity(path)) ?? null;
  }

  async #add(ctx: UpdateContext, payload: AddPodPayload): Promise<UpdateResult> {
    this.#undo = undefined;
    const [identity, host] = await Promise.all([
      ctx.callPort(`host/namespace identity ${payload.networkNamespace}`, () =>
        this.#identity(payload.networkNamespace),
      ),
      ctx.callPort('host/own namespaces', () => this.#deps.host.ownNamespaces()),
    ]);
    assertOfPod(host, payload.networkNamespace, identity);
    const id = this.idOf(payload);
    const previous = this.#table.get(id);
    const added: AttachmentRecord = {
      containerId: payload.containerId,
      interfaceName: payload.interfaceName,
      pod: { namespace: payload.pod.namespace, name: payload.pod.name },
      podUid: payload.podUid,
      network: payload.network,
      networkNamespace: payload.networkNamespace,
      namespaceIdentity: identity ?? undefined,
      attachedAt: rfc3339(ctx.clock.now()),
      bootId: this.#bootId!,
      order: this.#order + 1,
    };
    const record = previous?.adopted ? completed(previous, added) : added;
    const isRecorded = !this.#records.isUncertain(id);
    if (previous && isRecorded && sameAttachment(previous, record)) return {};
    const undo = { id, previous, isRecorded: false };
    // stored before it is wired: a crash in between leaves a record that DEL removes, never a wired
    // pod without a record
    ctx.beforeCommit(
      this.#records.put(ctx, record).then(() => {
        undo.isRecorded = true;
      }),
    );
    this.#order = record.order;
    this.#undo = undo;
    this.#forget(id);
    this.#table.set(record);
    return { change: `attach ${podIdText(record.pod)} ${record.interfaceName}` };
  }

  /** Deletes the record even of an unknown attachment: an Add Pod may have failed after writing it. */
  async #delete(ctx: UpdateContext, payload: DeletePodPayload): Promise<UpdateResult> {
    const id = this.idOf(payload);
    const record = this.#table.get(id);
    if (!record) {
      await this.#records.remove(ctx, id);
      return {};
    }
    await this.#records.moveToDeleted(ctx, record);
    this.#forget(id);
    if (this.#records.deletedCount > DELETED_LIMIT) {
      await this.#lost.readVpp(ctx);
      await this.#records.dropDeleted(ctx, (one) => this.#lost.isInVpp(one));
    }
    return { change: `detach ${podIdText(payload.pod)} ${payload.interfaceName}` };
  }

  #forget(id: AttachmentId): void {
    this.#table.delete(id);
    if (this.#displaced.has(id))
      this.#displaced = new Set([...this.#displaced].filter((one) => one !== id));
  }
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
