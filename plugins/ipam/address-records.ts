/** The addresses that were given out, as the local store keeps them: each is written before it is used. */
import type { KvStore } from '#datastore/api.ts';
import { FatalError } from '#plugins/controller/api/errors.ts';
import type { ResyncContext, RevertContext } from '#plugins/controller/api/event-handler.ts';
import {
  ADDRESS_PREFIX,
  type AddressRecord,
  addressKey,
  addressRecordText,
  LAST_KEY,
  readAddressRecord,
} from './address-record.ts';

type PortContext = Pick<RevertContext, 'callPort'>;

export class AddressRecords {
  readonly #store: KvStore;
  readonly #byAddress = new Map<string, AddressRecord>();
  /** Keys of records that nobody was told of, and that may stand in the store all the same. */
  readonly #uncertainKeys = new Set<string>();
  #last: string | undefined;

  /** @throws FatalError: without its memory the agent would give addresses out twice */
  static async readBack(ctx: ResyncContext, store: KvStore): Promise<AddressRecords> {
    const records = new AddressRecords(store);
    let entries: readonly { key: string; value: string }[];
    try {
      entries = await ctx.callPort(
        'local store/list addresses',
        async () => (await store.list(ADDRESS_PREFIX)).entries,
      );
      const last = await ctx.callPort(
        'local store/get last address',
        async () => (await store.get(LAST_KEY)) ?? null,
      );
      records.#last = last ?? undefined;
    } catch (cause) {
      throw new FatalError('cannot read back which addresses are in use', { cause });
    }
    for (const { key, value } of entries) {
      const record = readAddressRecord(key, value);
      if (record) records.#byAddress.set(record.address, record);
      else {
        ctx.log.error({ key, value }, 'record of an address cannot be read back, it is dropped');
        await ctx.callPort(`local store/delete ${key}`, () => store.delete(key));
      }
    }
    return records;
  }

  private constructor(store: KvStore) {
    this.#store = store;
  }

  /** The address that was given out last. */
  get last(): string | undefined {
    return this.#last;
  }

  get(address: string): AddressRecord | undefined {
    return this.#byAddress.get(address);
  }

  has(address: string): boolean {
    return this.#byAddress.has(address);
  }

  all(): readonly AddressRecord[] {
    return [...this.#byAddress.values()];
  }

  async setLast(ctx: PortContext, address: string): Promise<void> {
    await ctx.callPort(`local store/put ${LAST_KEY}`, () => this.#store.put(LAST_KEY, address));
    this.#last = address;
  }

  /** Records who has an address that nobody has. @returns whether it is his now */
  async create(ctx: PortContext, record: AddressRecord): Promise<boolean> {
    await this.#deleteUncertain(ctx);
    const key = addressKey(record.address);
    this.#uncertainKeys.add(key);
    const { created, value } = await ctx.callPort(`local store/put-if-absent ${key}`, () =>
      this.#store.putIfAbsent(key, addressRecordText(record)),
    );
    this.#uncertainKeys.delete(key);
    const standing = created ? record : readAddressRecord(key, value);
    if (standing) this.#byAddress.set(record.address, standing);
    // a record that an allocation with a lost answer left behind is as good as a new one
    return created || standing?.attachment === record.attachment;
  }

  /** Hands a record that is kept back over to a new attachment. @returns whether it is his now */
  async replace(ctx: PortContext, known: AddressRecord, record: AddressRecord): Promise<boolean> {
    const key = addressKey(record.address);
    const swapped = await ctx.callPort(`local store/compare-and-swap ${key}`, () =>
      this.#store.compareAndSwap(key, addressRecordText(known), addressRecordText(record)),
    );
    if (swapped) this.#byAddress.set(record.address, record);
    return swapped;
  }

  /** Records an address that somebody else has given, whatever was known of it. */
  async put(ctx: PortContext, record: AddressRecord): Promise<void> {
    const key = addressKey(record.address);
    await ctx.callPort(`local store/put ${key}`, () =>
      this.#store.put(key, addressRecordText(record)),
    );
    this.#byAddress.set(record.address, record);
  }

  /**
   * Before the next address is given out, what a lost answer may have left behind is taken away: to
   * the next run of the agent it would be a second address of the same pod.
   */
  async #deleteUncertain(ctx: PortContext): Promise<void> {
    for (const key of this.#uncertainKeys) {
      await ctx.callPort(`local store/delete ${key}`, () => this.#store.delete(key));
      this.#uncertainKeys.delete(key);
    }
  }

  async delete(ctx: PortContext, address: string): Promise<void> {
    const key = addressKey(address);
    await ctx.callPort(`local store/delete ${key}`, () => this.#store.delete(key));
    this.#byAddress.delete(address);
  }
}
