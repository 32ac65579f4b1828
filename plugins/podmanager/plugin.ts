/**
 * Event handler that manages the attachments of this node. Their records are in the local store from
 * before they are wired until they are deleted, so that a restarted agent finds the pods that kept
 * running.
 */
import type { KvStore } from '#datastore/api.ts';
import type { DiskStore } from '#datastore/disk-store.ts';
import { SharedMap } from '#infra/collections/shared-map.ts';
import { FatalError } from '#plugins/controller/api/errors.ts';
import { type Event, EventMethod } from '#plugins/controller/api/event.ts';
import type {
  EventHandler,
  ResyncContext,
  RevertContext,
  UpdateContext,
  UpdateResult,
} from '#plugins/controller/api/event-handler.ts';
import type { HostPort } from '#plugins/controller/api/ports/host.ts';
import {
  AddPod,
  type AddPodPayload,
  type Attachment,
  type AttachmentId,
  attachmentId,
  DeletePod,
  type DeletePodPayload,
  type PodId,
  type PodManagerApi,
  podIdText,
} from './api.ts';
import {
  ATTACHMENT_PREFIX,
  type AttachmentRecord,
  attachmentKey,
  attachmentText,
  readAttachment,
  sameAttachment,
} from './attachment-record.ts';
import { HostNamespaceError } from './cni-request.ts';

export interface PodManagerDeps {
  /** Local store of this node; persists across restarts of the agent. */
  readonly store: KvStore;
  /** Loss of the local store; undefined: it is in memory. */
  readonly disk: Pick<DiskStore, 'loss' | 'resolveLoss'> | undefined;
  readonly host: HostPort;
}

export interface PodManager extends EventHandler, PodManagerApi {
  /** Resolves when the first resync has read the attachments from the local store. */
  readonly started: Promise<void>;
}

export function createPodManager(deps: PodManagerDeps): PodManager {
  return new Manager(deps);
}

type Identity = { readonly device: number; readonly inode: number };

class Manager implements PodManager {
  readonly name = 'podmanager';
  readonly started: Promise<void>;
  readonly #deps: PodManagerDeps;
  readonly #resolveStarted: () => void;
  readonly #attachments = new SharedMap<AttachmentId, AttachmentRecord>();
  readonly #byPod = new Map<string, Map<AttachmentId, AttachmentRecord>>();
  #displaced: ReadonlySet<AttachmentId> = new Set();
  #bootId: string | undefined;
  #order = 0;
  /** Attachment that the last Add Pod replaced, needed to revert it. */
  #undo: { readonly id: AttachmentId; readonly previous: AttachmentRecord | undefined } | undefined;

  constructor(deps: PodManagerDeps) {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#deps = deps;
    this.started = promise;
    this.#resolveStarted = resolve;
  }

  handlesEvent(event: Event): boolean {
    if (event.kind.method(event.payload) !== EventMethod.Update) return true;
    return AddPod.is(event) || DeletePod.is(event);
  }

  async resync(ctx: ResyncContext): Promise<void> {
    if (this.#bootId === undefined) await this.#readBack(ctx);
    await this.#findDisplaced(ctx);
    this.#resolveStarted();
  }

  async update(ctx: UpdateContext): Promise<UpdateResult> {
    if (AddPod.is(ctx.event)) return this.#add(ctx, ctx.event.payload);
    return this.#delete(ctx, ctx.event.payload as DeletePodPayload);
  }

  async revert(ctx: RevertContext): Promise<void> {
    const undo = this.#undo;
    this.#undo = undefined;
    if (!undo || !AddPod.is(ctx.event) || attachmentId(ctx.event.payload) !== undo.id) return;
    const { id, previous } = undo;
    this.#forget(id);
    if (previous) this.#remember(previous);
    await this.#write(ctx, id, previous);
  }

  attachments(): ReadonlyMap<AttachmentId, Attachment> {
    return this.#attachments.view;
  }

  attachmentsOf(pod: PodId): readonly Attachment[] {
    return [...(this.#byPod.get(podIdText(pod))?.values() ?? [])];
  }

  isDisplaced(attachment: AttachmentId): boolean {
    return this.#displaced.has(attachment);
  }

  describeInternalData(): string {
    return JSON.stringify([...this.#attachments.values()]);
  }

  /** @throws FatalError: without the records the agent would treat running pods as deleted */
  async #readBack(ctx: ResyncContext): Promise<void> {
    const { host, store } = this.#deps;
    let bootId: string;
    let entries: readonly { key: string; value: string }[];
    try {
      bootId = await ctx.callPort('host/boot id', () => host.bootId());
      entries = await ctx.callPort(
        'local store/list attachments',
        async () => (await store.list(ATTACHMENT_PREFIX)).entries,
      );
    } catch (cause) {
      throw new FatalError('cannot read the attached pods from the local store', { cause });
    }
    const records: AttachmentRecord[] = [];
    const dropped = new Map<string, undefined>();
    for (const { key, value } of entries) {
      const record = readAttachment(value);
      if (!record)
        ctx.log.error({ key, value }, 'deleting an invalid attachment record from the local store');
      if (record?.bootId === bootId) records.push(record);
      else dropped.set(key, undefined);
    }
    if (dropped.size > 0)
      await ctx.callPort('local store/drop attachments', () => store.putAll(dropped));
    records.sort((a, b) => a.order - b.order);
    for (const record of records) this.#remember(record);
    this.#order = records.at(-1)?.order ?? 0;
    this.#bootId = bootId;
    ctx.log.info(
      { attachments: records.length, dropped: dropped.size },
      'read attachments from the local store',
    );
  }

  /** A path that does not exist any more is no displacement: its values wait for the DEL. */
  async #findDisplaced(ctx: ResyncContext): Promise<void> {
    const known = [...this.#attachments].filter(([, { namespaceIdentity }]) => namespaceIdentity);
    const paths = known.map(([, { networkNamespace }]) => networkNamespace);
    if (paths.length === 0) {
      this.#displaced = new Set();
      return;
    }
    const now = await ctx.callPort('host/namespace identities', () =>
      Promise.all(paths.map((path) => this.#identity(path))),
    );
    const displaced = new Set<AttachmentId>();
    for (const [position, [id, record]] of known.entries()) {
      const identity = now[position];
      if (!identity || sameIdentity(identity, record.namespaceIdentity)) continue;
      displaced.add(id);
      ctx.log.warn(
        { pod: podIdText(record.pod), path: record.networkNamespace },
        'the path leads to another network namespace now; nothing is configured there',
      );
    }
    this.#displaced = displaced;
  }

  async #identity(path: string): Promise<Identity | null> {
    return (await this.#deps.host.namespaceIdentity(path)) ?? null;
  }

  async #add(ctx: UpdateContext, payload: AddPodPayload): Promise<UpdateResult> {
    const identity = await ctx.callPort(`host/namespace identity ${payload.networkNamespace}`, () =>
      this.#identity(payload.networkNamespace),
    );
    await this.#assertOfPod(ctx, payload.networkNamespace, identity);
    const id = attachmentId(payload);
    const previous = this.#attachments.get(id);
    const record: AttachmentRecord = {
      containerId: payload.containerId,
      interfaceName: payload.interfaceName,
      pod: { namespace: payload.pod.namespace, name: payload.pod.name },
      podUid: payload.podUid,
      network: payload.network,
      networkNamespace: payload.networkNamespace,
      namespaceIdentity: identity ?? undefined,
      bootId: this.#bootId!,
      order: this.#order + 1,
    };
    this.#undo = undefined;
    if (previous && sameAttachment(previous, record)) return {};
    // stored before it is wired: a crash in between leaves a record that DEL removes, never a wired
    // pod without a record
    await this.#write(ctx, id, record);
    this.#order = record.order;
    this.#undo = { id, previous };
    this.#forget(id);
    this.#remember(record);
    return { change: `attach ${podIdText(record.pod)} ${record.interfaceName}` };
  }

  /** In the namespace of the host, the routes of a pod would redirect the traffic of the node. */
  async #assertOfPod(ctx: UpdateContext, path: string, identity: Identity | null): Promise<void> {
    if (!identity) return;
    const host = await ctx.callPort('host/own namespaces', () => this.#deps.host.ownNamespaces());
    if (host.some((one) => sameIdentity(one, identity)))
      throw new HostNamespaceError('the path leads to the network namespace of the host', {
        where: path,
      });
  }

  /** Deletes the record even of an unknown attachment: an Add Pod may have failed after writing it. */
  async #delete(ctx: UpdateContext, payload: DeletePodPayload): Promise<UpdateResult> {
    const id = attachmentId(payload);
    await this.#write(ctx, id, undefined);
    if (!this.#attachments.has(id)) return {};
    this.#forget(id);
    return { change: `detach ${podIdText(payload.pod)} ${payload.interfaceName}` };
  }

  async #write(
    ctx: RevertContext,
    id: AttachmentId,
    record: AttachmentRecord | undefined,
  ): Promise<void> {
    const key = attachmentKey(id);
    if (record)
      await ctx.callPort(`local store/put ${key}`, () =>
        this.#deps.store.put(key, attachmentText(record)),
      );
    else await ctx.callPort(`local store/delete ${key}`, () => this.#deps.store.delete(key));
  }

  #remember(record: AttachmentRecord): void {
    const id = attachmentId(record);
    const pod = podIdText(record.pod);
    this.#attachments.set(id, record);
    const ofPod = this.#byPod.get(pod) ?? new Map<AttachmentId, AttachmentRecord>();
    this.#byPod.set(pod, ofPod.set(id, record));
  }

  #forget(id: AttachmentId): void {
    const record = this.#attachments.get(id);
    if (!record) return;
    const pod = podIdText(record.pod);
    this.#attachments.delete(id);
    const ofPod = this.#byPod.get(pod)!;
    ofPod.delete(id);
    if (ofPod.size === 0) this.#byPod.delete(pod);
    if (this.#displaced.has(id))
      this.#displaced = new Set([...this.#displaced].filter((one) => one !== id));
  }
}

function sameIdentity(a: Identity, b: Identity | undefined): boolean {
  return b !== undefined && a.device === b.device && a.inode === b.inode;
}
