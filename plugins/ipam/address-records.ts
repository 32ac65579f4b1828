/** Allocated addresses in the local store; each record is written before the address is used. */
import type { KvStore } from '#datastore/api.ts';
import { defineError, errorText } from '#infra/errors/errors.ts';
import { allSettled } from '#infra/rollback/rollback.ts';
import type { IpFamily } from '#models/ip.ts';
import { causedError, FatalError } from '#plugins/controller/api/errors.ts';
import type { ResyncContext, RevertContext } from '#plugins/controller/api/event-handler.ts';
import { familyOfAddress } from './address-pools.ts';
import {
  ADDRESS_PREFIX,
  type AddressRecord,
  addressKey,
  addressRecordText,
  INVALID_PREFIX,
  LAST_KEY,
  lastKey,
  readAddressRecord,
} from './address-record.ts';

export const AddressRecordedError = defineError({
  name: 'AddressRecordedError',
  code: 'CV_IPAM_RECORDED',
  isRetriable: true,
  remedy: 'None: kubelet repeats the request, which gets the next address.',
});

type PortContext = Pick<RevertContext, 'callPort'>;

export class AddressRecords {
  readonly #store: KvStore;
  readonly #primary: IpFamily | undefined;
  /**
   * Those that lost their owner are in the order in which they lost it, after those of an earlier process,
   * which are in the order of their keys.
   */
  readonly #byAddress = new Map<string, AddressRecord>();
  /** Addresses whose last write failed, so that the disk may have another record than the memory. */
  readonly #uncertain = new Set<string>();
  /** The last allocated address of each family. */
  readonly #last = new Map<IpFamily, string>();

  /** @throws FatalError: without the records the agent would allocate addresses twice */
  static async readBack(
    ctx: ResyncContext,
    store: KvStore,
    families: readonly IpFamily[],
  ): Promise<AddressRecords> {
    const records = new AddressRecords(store, families);
    let entries: readonly { key: string; value: string }[];
    try {
      entries = await ctx.callPort(
        'local store/list addresses',
        async () => (await store.list(ADDRESS_PREFIX)).entries,
      );
      for (const key of lastKeys(families)) {
        const last = await ctx.callPort(
          `local store/get last address${key === LAST_KEY ? '' : ` ${key}`}`,
          async () => (await store.get(key)) ?? null,
        );
        // that of the primary family comes first: the others may be of the time before it was the primary one
        const family = last === null ? undefined : familyOfAddress(last);
        if (family && !records.#last.has(family)) records.#last.set(family, last!);
      }
    } catch (cause) {
      throw causedError(
        FatalError,
        'cannot read the allocated addresses from the local store',
        cause,
      );
    }
    for (const { key, value } of entries) {
      const record = readAddressRecord(key, value);
      if (record) records.#byAddress.set(record.address, record);
      else {
        const movedTo = INVALID_PREFIX + key.slice(ADDRESS_PREFIX.length);
        ctx.log.error(
          { key, movedTo, value },
          'invalid address record; VPP tells whose address it is',
        );
        const move = new Map([
          [key, undefined],
          [movedTo, value],
        ]);
        try {
          await ctx.callPort(`local store/move ${key}`, () => store.putAll(move));
        } catch (cause) {
          // pods are configured without a disk, too: the next start tries again
          ctx.log.warn({ key, reason: errorText(cause) }, 'cannot move an invalid address record');
        }
      }
    }
    return records;
  }

  private constructor(store: KvStore, families: readonly IpFamily[]) {
    this.#store = store;
    this.#primary = families[0];
  }

  /** The last allocated address of each family. */
  last(): readonly string[] {
    return [...this.#last.values()];
  }

  isLast(address: string): boolean {
    return this.#last.get(familyOfAddress(address)) === address;
  }

  get(address: string): AddressRecord | undefined {
    return this.#byAddress.get(address);
  }

  has(address: string): boolean {
    return this.#byAddress.has(address);
  }

  /** All records; of those without an owner, the one that was released longest ago comes first. */
  inOrderOfRelease(): Iterable<AddressRecord> {
    return this.#byAddress.values();
  }

  all(): readonly AddressRecord[] {
    return [...this.#byAddress.values()];
  }

  /**
   * Records the owner of a free address, and the address as the last one. If only one of both writes succeeds,
   * one address is skipped.
   * @throws AddressRecordedError: the attachment does not own the address
   */
  async allocate(ctx: PortContext, record: AddressRecord): Promise<void> {
    this.#byAddress.set(record.address, record);
    const [, isOwner] = await allSettled([
      this.#setLast(ctx, record.address),
      this.create(ctx, record),
    ]);
    if (isOwner) return;
    throw new AddressRecordedError('the local store has an unknown record of the address', {
      where: record.address,
    });
  }

  /**
   * Drops the record of an allocation that failed. The store may have it, also if only the other write
   * failed.
   */
  forget(address: string, attachment: string): void {
    if (this.#byAddress.get(address)?.attachment !== attachment) return;
    this.#byAddress.delete(address);
    this.#uncertain.add(address);
  }

  async #setLast(ctx: PortContext, address: string): Promise<void> {
    const family = familyOfAddress(address);
    const key = family === this.#primary ? LAST_KEY : lastKey(family);
    await ctx.callPort(`local store/put ${key}`, () => this.#store.put(key, address));
    this.#last.set(family, address);
  }

  /** Creates the record of a free address. @returns whether the attachment owns the address now */
  async create(ctx: PortContext, record: AddressRecord): Promise<boolean> {
    await this.restoreUncertain(ctx);
    const key = addressKey(record.address);
    this.#uncertain.add(record.address);
    const { created, value } = await ctx.callPort(`local store/put-if-absent ${key}`, () =>
      this.#store.putIfAbsent(key, addressRecordText(record)),
    );
    this.#uncertain.delete(record.address);
    const existing = created ? record : readAddressRecord(key, value);
    if (existing) this.#byAddress.set(record.address, existing);
    else this.#byAddress.delete(record.address);
    // a record of the same attachment, left by a write with unknown outcome, is valid
    return created || existing?.attachment === record.attachment;
  }

  /** Reassigns a reserved address to another attachment. @returns whether it owns the address now */
  async replace(ctx: PortContext, known: AddressRecord, record: AddressRecord): Promise<boolean> {
    await this.restoreUncertain(ctx);
    const key = addressKey(record.address);
    this.#uncertain.add(record.address);
    const swapped = await ctx.callPort(`local store/compare-and-swap ${key}`, () =>
      this.#store.compareAndSwap(key, addressRecordText(known), addressRecordText(record)),
    );
    this.#uncertain.delete(record.address);
    if (swapped) this.#byAddress.set(record.address, record);
    return swapped;
  }

  /**
   * Clears the owner of an address that stays reserved: a later attachment of the same container gets
   * another address, and two records would name it as their owner.
   */
  async clearOwner(ctx: PortContext, address: string): Promise<void> {
    const record = this.#byAddress.get(address);
    if (!record || record.attachment === '') return;
    const unowned: AddressRecord = { ...record, attachment: '' };
    await this.put(ctx, unowned);
    this.#byAddress.delete(address);
    this.#byAddress.set(address, unowned);
  }

  /** Records an address of another IPAM, and replaces an existing record. */
  async accept(ctx: PortContext, record: AddressRecord): Promise<void> {
    await this.restoreUncertain(ctx);
    await this.put(ctx, record);
  }

  /** Writes a record, and replaces an existing one. */
  async put(ctx: PortContext, record: AddressRecord): Promise<void> {
    const key = addressKey(record.address);
    this.#uncertain.add(record.address);
    await ctx.callPort(`local store/put ${key}`, () =>
      this.#store.put(key, addressRecordText(record)),
    );
    this.#uncertain.delete(record.address);
    this.#byAddress.set(record.address, record);
  }

  /**
   * Undoes writes with an unknown outcome before the next allocation: after a restart their records would
   * be a second address of the same pod, or a running pod would have none.
   */
  async restoreUncertain(ctx: PortContext): Promise<void> {
    for (const address of this.#uncertain) {
      const record = this.#byAddress.get(address);
      await (record ? this.put(ctx, record) : this.delete(ctx, address));
    }
  }

  /** For a resync: it configures the pods without a disk, too, and the next one tries again. */
  async tryRestoreUncertain(ctx: ResyncContext): Promise<void> {
    try {
      await this.restoreUncertain(ctx);
    } catch (cause) {
      const reason = errorText(cause);
      ctx.log.warn({ reason }, 'cannot restore the records of addresses whose last write failed');
    }
  }

  async delete(ctx: PortContext, address: string): Promise<void> {
    const key = addressKey(address);
    this.#uncertain.add(address);
    await ctx.callPort(`local store/delete ${key}`, () => this.#store.delete(key));
    this.#uncertain.delete(address);
    this.#byAddress.delete(address);
  }
}

function lastKeys([, ...others]: readonly IpFamily[]): readonly string[] {
  return [LAST_KEY, ...others.map(lastKey)];
}
