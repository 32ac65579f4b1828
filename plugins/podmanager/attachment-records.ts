/**
 * Records of attachments in the local store. An attachment is recorded before it is wired. When it is
 * deleted, its record moves to those of deleted attachments: after a crash, its interface in VPP is then
 * an orphan and not a running pod whose record was lost. That record is deleted when the interface is no
 * longer in VPP.
 */
import type { KvEntry, KvStore } from '#datastore/api.ts';
import { errorText } from '#infra/errors/errors.ts';
import { causedError, FatalError } from '#plugins/controller/api/errors.ts';
import type { ResyncContext } from '#plugins/controller/api/event-handler.ts';
import { ATTACHMENT_PREFIX, type AttachmentId, attachmentId, type PortContext } from './api.ts';
import {
  type AttachmentRecord,
  attachmentKey,
  attachmentText,
  DELETED_PREFIX,
  deletedKey,
  INVALID_PREFIX,
  readAttachment,
} from './attachment-record.ts';

export class AttachmentRecords {
  readonly #store: KvStore;
  readonly #deleted = new Map<AttachmentId, AttachmentRecord>();
  /** Attachments whose last write failed, so that the disk may have it; undefined: their record was to be removed. */
  readonly #uncertain = new Map<AttachmentId, AttachmentRecord | undefined>();

  constructor(store: KvStore) {
    this.#store = store;
  }

  /**
   * Reads the records of this boot, in the order in which they were created.
   * @throws FatalError: without the records the agent would treat running pods as deleted
   */
  async readBack(ctx: ResyncContext, bootId: string): Promise<readonly AttachmentRecord[]> {
    const changes = new Map<string, string | undefined>();
    const attached = this.#readAll(ctx, bootId, await this.#list(ctx, ATTACHMENT_PREFIX), changes);
    const deleted = this.#readAll(ctx, bootId, await this.#list(ctx, DELETED_PREFIX), changes);
    await this.#cleanUp(ctx, changes);
    for (const record of deleted) this.#deleted.set(attachmentId(record), record);
    ctx.log.info(
      { attachments: attached.length, dropped: changes.size },
      'read attachments from the local store',
    );
    return attached.sort((a, b) => a.order - b.order);
  }

  /** Pods are configured without a disk, too: the next start tries again. */
  async #cleanUp(
    ctx: ResyncContext,
    changes: ReadonlyMap<string, string | undefined>,
  ): Promise<void> {
    try {
      await this.#writeAll(ctx, 'clean up attachments', changes);
    } catch (cause) {
      const reason = errorText(cause);
      ctx.log.warn({ reason }, 'cannot remove outdated and invalid records of attachments');
    }
  }

  async #list(ctx: ResyncContext, prefix: string): Promise<readonly KvEntry[]> {
    try {
      return await ctx.callPort(
        `local store/list ${prefix}`,
        async () => (await this.#store.list(prefix)).entries,
      );
    } catch (cause) {
      throw causedError(FatalError, 'cannot read the attached pods from the local store', cause);
    }
  }

  /** @param changes gets the removal of records of earlier boots, and the move of invalid ones */
  #readAll(
    ctx: ResyncContext,
    bootId: string,
    entries: readonly KvEntry[],
    changes: Map<string, string | undefined>,
  ): AttachmentRecord[] {
    return entries.flatMap(({ key, value }) => {
      const record = readAttachment(value);
      if (record?.bootId === bootId) return [record];
      changes.set(key, undefined);
      if (record) return [];
      const movedTo = key.replace(/^local\/podmanager\/[^/]+\//, INVALID_PREFIX);
      changes.set(movedTo, value);
      ctx.log.error(
        { key, movedTo, value },
        'invalid attachment record; the attachment is recovered from VPP and Linux',
      );
      return [];
    });
  }

  /** Deleted attachments whose interface may still be in VPP. */
  deleted(): Iterable<AttachmentRecord> {
    return this.#deleted.values();
  }

  get deletedCount(): number {
    return this.#deleted.size;
  }

  /** Whether the disk may have another record of the attachment than the caller. */
  isUncertain(id: AttachmentId): boolean {
    return this.#uncertain.has(id);
  }

  async put(ctx: PortContext, record: AttachmentRecord): Promise<void> {
    const id = attachmentId(record);
    const key = attachmentKey(id);
    this.#uncertain.set(id, record);
    await ctx.callPort(`local store/put ${key}`, () =>
      this.#store.put(key, attachmentText(record)),
    );
    this.#uncertain.delete(id);
  }

  /**
   * Repeats the writes whose outcome is unknown: a restart would detach a running pod, or attach a deleted
   * one. An attachment that does not exist becomes a deleted one, because VPP may have its interface.
   */
  async restoreUncertain(
    ctx: PortContext,
    current: (id: AttachmentId) => AttachmentRecord | undefined,
  ): Promise<void> {
    for (const [id, written] of this.#uncertain) {
      const record = current(id);
      if (record) await this.put(ctx, record);
      else if (written) await this.moveToDeleted(ctx, written);
      else await this.remove(ctx, id);
    }
  }

  /** Deletes the record of an attachment that was never wired. */
  async remove(ctx: PortContext, id: AttachmentId): Promise<void> {
    const key = attachmentKey(id);
    this.#uncertain.set(id, this.#uncertain.get(id));
    await ctx.callPort(`local store/delete ${key}`, () => this.#store.delete(key));
    this.#uncertain.delete(id);
  }

  /** Writes records and removes others, all or none. */
  async replace(
    ctx: PortContext,
    removed: Iterable<AttachmentId>,
    added: Iterable<AttachmentRecord>,
  ): Promise<void> {
    const records = new Map<AttachmentId, AttachmentRecord | undefined>();
    for (const id of removed) records.set(id, undefined);
    for (const record of added) records.set(attachmentId(record), record);
    const changes = new Map<string, string | undefined>();
    for (const [id, record] of records) {
      // a found attachment whose write fails is found again: it was not added, and must not become a deleted one
      if (record === undefined) this.#uncertain.set(id, undefined);
      changes.set(attachmentKey(id), record && attachmentText(record));
    }
    await this.#writeAll(ctx, 'write found attachments', changes);
    for (const id of records.keys()) this.#uncertain.delete(id);
  }

  async moveToDeleted(ctx: PortContext, record: AttachmentRecord): Promise<void> {
    const id = attachmentId(record);
    const changes = new Map([
      [attachmentKey(id), undefined],
      [deletedKey(id), attachmentText(record)],
    ]);
    this.#uncertain.set(id, record);
    await this.#writeAll(ctx, `delete attachment ${id}`, changes);
    this.#uncertain.delete(id);
    this.#deleted.set(id, record);
  }

  /** Drops the deleted attachments that have no interface in VPP any more. */
  async dropDeleted(
    ctx: PortContext,
    isInVpp: (record: AttachmentRecord) => boolean,
  ): Promise<void> {
    const gone = [...this.#deleted].filter(([, record]) => !isInVpp(record)).map(([id]) => id);
    const changes = new Map(gone.map((id) => [deletedKey(id), undefined]));
    await this.#writeAll(ctx, 'drop deleted attachments', changes);
    for (const id of gone) this.#deleted.delete(id);
  }

  async #writeAll(
    ctx: PortContext,
    what: string,
    changes: ReadonlyMap<string, string | undefined>,
  ): Promise<void> {
    if (changes.size > 0)
      await ctx.callPort(`local store/${what}`, () => this.#store.putAll(changes));
  }
}
