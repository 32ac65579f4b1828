import { errorText } from '#infra/errors/errors.ts';
import type { Logger } from '#infra/log/log.ts';
import type { ManagedKeys, NaturalIdentity } from './descriptors/managed-keys.ts';

interface RecordEntry {
  readonly key: string;
  readonly value: string;
}

/** The store of this node: a `KvStore`. */
export interface RecordStore {
  list(prefix: string): Promise<{ readonly entries: readonly RecordEntry[] }>;
  putAll(entries: ReadonlyMap<string, string | undefined>): Promise<void>;
}

const PREFIX = 'local/vpp/object/';

export interface ObjectRecordsOptions {
  readonly store: RecordStore;
  /** Keys of objects that only the agent makes: they need no record. */
  readonly isAgentKey: (key: string) => boolean;
  readonly log: Logger;
}

/**
 * Records of the objects that the agent makes, in the local store. While the store cannot be written, objects
 * are made without a record, because pods need the network although a disk is full; the records
 * follow with the next write.
 */
export class ObjectRecords implements ManagedKeys {
  readonly #options: ObjectRecordsOptions;
  /** Keys with a record in the store. */
  readonly #recorded = new Map<string, NaturalIdentity>();
  /** Keys whose objects were reported as unmanaged. */
  readonly #reported = new Set<string>();
  #changes = new Map<string, NaturalIdentity | undefined>();
  #loading: Promise<void> | undefined;
  #lastWrite: Promise<void> = Promise.resolve();
  #nextWrite: Promise<void> | undefined;

  constructor(options: ObjectRecordsOptions) {
    this.#options = options;
  }

  load(): Promise<void> {
    this.#loading ??= this.#load().catch((thrown: unknown) => {
      this.#loading = undefined;
      throw thrown;
    });
    return this.#loading;
  }

  async #load(): Promise<void> {
    const { entries } = await this.#options.store.list(PREFIX);
    for (const { key, value } of entries)
      this.#recorded.set(key.slice(PREFIX.length), readIdentity(value));
  }

  has(key: string): boolean {
    return this.#options.isAgentKey(key) || this.#recorded.has(key);
  }

  recorded(): ReadonlyMap<string, NaturalIdentity> {
    return this.#recorded;
  }

  async add(keys: ReadonlyMap<string, NaturalIdentity>): Promise<void> {
    for (const [key, identity] of keys) this.#changes.set(key, identity);
    await this.#write();
  }

  delete(keys: readonly string[]): void {
    const recorded = keys.filter((key) => this.#recorded.delete(key) || this.#changes.has(key));
    for (const key of recorded) this.#changes.set(key, undefined);
    // nothing waits for it: a record without an object is deleted by the next resync
    void this.#write();
  }

  reportUnmanaged(key: string): void {
    if (this.#reported.has(key)) return;
    this.#reported.add(key);
    this.#options.log.info({ key }, 'leaving an object of VPP alone that this agent has not made');
  }

  /** All changes until the write begins are one batch. Never rejects. */
  #write(): Promise<void> {
    this.#nextWrite ??= this.#lastWrite.then(() => {
      this.#nextWrite = undefined;
      this.#lastWrite = this.#writeChanges();
      return this.#lastWrite;
    });
    return this.#nextWrite;
  }

  async #writeChanges(): Promise<void> {
    const changes = this.#changes;
    if (changes.size === 0) return;
    this.#changes = new Map();
    try {
      const entries = [...changes].map(
        ([key, identity]) =>
          [PREFIX + key, identity === undefined ? undefined : JSON.stringify(identity)] as const,
      );
      await this.#options.store.putAll(new Map(entries));
      for (const [key, identity] of changes)
        if (identity !== undefined) this.#recorded.set(key, identity);
    } catch (thrown) {
      this.#changes = new Map([...changes, ...this.#changes]);
      this.#options.log.warn(
        { records: changes.size, error: errorText(thrown) },
        'cannot record objects of VPP in the local store; trying again with the next change',
      );
    }
  }
}

/** Of an invalid record only the key is known. */
function readIdentity(text: string): NaturalIdentity {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'string' ? value : '';
  } catch {
    return '';
  }
}
