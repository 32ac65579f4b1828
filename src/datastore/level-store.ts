import { systemClock } from '#infra/clock/system.ts';
import type { CodedError } from '#infra/errors/errors.ts';
import type {
  KvEntry,
  KvPart,
  KvSnapshot,
  KvStore,
  Revision,
  Watch,
  WatchHandlers,
} from './api.ts';
import type { DiskStore, StoreLoss } from './disk-store.ts';
import {
  type Batch,
  type Database,
  ENTRY_PREFIX,
  entries,
  newBatch,
  rangeOf,
  SLICE,
} from './level-content.ts';
import type { ContentChecksum } from './level-seal.ts';
import { type Change, type LevelOptions, SealedLevel } from './sealed-level.ts';

interface Write {
  /** undefined: delete. */
  readonly entries: ReadonlyMap<string, string | undefined>;
  /** Of the value of the first key. */
  readonly condition: (existing: string | undefined) => boolean;
  readonly resolve: (first: string | undefined) => void;
  readonly reject: (thrown: unknown) => void;
}

/**
 * An embedded database in its own folder. Every write is in one batch, and is on the disk when its
 * promise resolves, or, with `syncDelayMs`, when the machine has kept power for that long; after a crash the
 * database contains each batch whole or not at all.
 */
export class LevelStore implements KvStore, DiskStore {
  readonly name: string;
  readonly folder: string;
  readonly #level: SealedLevel;
  /** Writes that the next batch contains. */
  readonly #waiting: Write[] = [];

  /** @throws StoreOpenError */
  static async open(options: LevelOptions): Promise<LevelStore> {
    const name = `level ${options.folder}`;
    return new LevelStore(name, options.folder, await SealedLevel.open(name, options));
  }

  private constructor(name: string, folder: string, level: SealedLevel) {
    this.name = name;
    this.folder = folder;
    this.#level = level;
  }

  /** Damage that was found when the database was opened or reopened; undefined: none. */
  get damage(): string | undefined {
    return this.#level.damage;
  }

  get loss(): StoreLoss | undefined {
    return this.#level.seal.loss;
  }

  get fault(): CodedError | undefined {
    return this.#level.fault;
  }

  onFault(listener: () => void): void {
    this.#level.onFault(listener);
  }

  async resolveLoss(): Promise<void> {
    await this.#level.write((database) => {
      const seal = { ...this.#level.seal, loss: undefined };
      return this.#level.commitSynced(newBatch(database), seal, []);
    });
  }

  async tryWrite(): Promise<void> {
    await this.#level.write((database) =>
      this.#level.commitSynced(newBatch(database), this.#level.seal, []),
    );
  }

  get(key: string): Promise<string | undefined> {
    return this.#level.read((database) => database.get(ENTRY_PREFIX + key));
  }

  list(prefix: string): Promise<KvSnapshot> {
    return this.#level.read(async (database) => {
      // Created between two writes, so that iterator (a snapshot) and revision match.
      const { iterator, revision } = await this.#level.between(database, () => ({
        iterator: rangeOf(database, prefix),
        revision: this.#level.changeLog.revision(),
      }));
      const listed: KvEntry[] = [];
      for await (const entry of entries(iterator, prefix)) listed.push(entry);
      return { entries: listed, revision };
    });
  }

  part(prefix: string, after: string | undefined, limit: number): Promise<KvPart> {
    return this.#level.read(async (database) => {
      const found: KvEntry[] = [];
      for await (const entry of entries(rangeOf(database, prefix, after), prefix)) {
        if (found.length === limit) return { entries: found, isLast: false };
        found.push(entry);
      }
      return { entries: found, isLast: true };
    });
  }

  async put(key: string, value: string): Promise<void> {
    await this.#write(new Map([[key, value]]));
  }

  async putAll(all: ReadonlyMap<string, string | undefined>): Promise<void> {
    await this.#write(new Map(all));
  }

  async putIfAbsent(key: string, value: string): Promise<{ created: boolean; value: string }> {
    const before = await this.#write(new Map([[key, value]]), (existing) => existing === undefined);
    return before === undefined ? { created: true, value } : { created: false, value: before };
  }

  async compareAndSwap(key: string, expected: string, value: string): Promise<boolean> {
    const change = new Map([[key, value]]);
    return (await this.#write(change, (existing) => existing === expected)) === expected;
  }

  async compareAndDelete(key: string, expected: string): Promise<boolean> {
    const change = new Map([[key, undefined]]);
    return (await this.#write(change, (existing) => existing === expected)) === expected;
  }

  async delete(key: string): Promise<boolean> {
    return (await this.#write(new Map([[key, undefined]]))) !== undefined;
  }

  watch(prefix: string, from: Revision, handlers: WatchHandlers): Watch {
    this.#level.assertOpen();
    return this.#level.changeLog.watch(prefix, from, handlers);
  }

  async identity(): Promise<string> {
    this.#level.assertOpen();
    return this.#level.changeLog.origin;
  }

  async probe(): Promise<void> {
    await this.get('');
  }

  close(): Promise<void> {
    return this.#level.close();
  }

  /**
   * Writes the entries if the value of the first key meets the condition. Writes of one turn of the event loop, and
   * those that wait for an earlier one, are one batch: the disk is synced once for all of them.
   * @returns the previous value of the first key
   */
  #write(
    entries: ReadonlyMap<string, string | undefined>,
    condition: (existing: string | undefined) => boolean = () => true,
  ): Promise<string | undefined> {
    this.#level.assertOpen();
    return new Promise((resolve, reject) => {
      this.#waiting.push({ entries, condition, resolve, reject });
      if (this.#waiting.length === 1) void this.#writeWaiting();
    });
  }

  async #writeWaiting(): Promise<void> {
    let writes: readonly Write[] = [];
    try {
      const before = await this.#level.write(async (database) => {
        // the writes of one turn of the event loop: those of all handlers of an event
        await systemClock.turn();
        writes = this.#waiting.splice(0);
        return this.#apply(database, writes);
      });
      for (const [position, { resolve }] of writes.entries()) resolve(before[position]);
    } catch (thrown) {
      if (writes.length === 0) writes = this.#waiting.splice(0);
      for (const { reject } of writes) reject(thrown);
    }
  }

  /** @returns the previous value of the first key of each write */
  async #apply(
    database: Database,
    writes: readonly Write[],
  ): Promise<readonly (string | undefined)[]> {
    const { seal } = this.#level;
    await using batch = newBatch(database);
    const content = new ChangedContent(database, batch, seal.checksum.copy());
    const firsts: (string | undefined)[] = [];
    for (const { entries, condition } of writes) {
      const keys = [...entries.keys()];
      let first: string | undefined;
      for (let from = 0; from < keys.length; from += SLICE) {
        const slice = keys.slice(from, from + SLICE);
        const before = await content.read(slice);
        if (from === 0) {
          first = before[0];
          if (!condition(first)) break;
        }
        for (const [at, key] of slice.entries()) content.change(key, before[at], entries.get(key));
      }
      firsts.push(first);
    }
    const { checksum, changes } = content;
    if (changes.length > 0)
      await this.#level.commit(batch, { ...seal, checksum, sequence: seal.sequence + 1 }, changes);
    return firsts;
  }
}

/** The content of a database with the changes of a batch that is not written yet. */
class ChangedContent {
  readonly changes: Change[] = [];
  readonly checksum: ContentChecksum;
  readonly #database: Database;
  readonly #batch: Batch;
  readonly #values = new Map<string, string | undefined>();

  constructor(database: Database, batch: Batch, checksum: ContentChecksum) {
    this.#database = database;
    this.#batch = batch;
    this.checksum = checksum;
  }

  async read(keys: readonly string[]): Promise<readonly (string | undefined)[]> {
    const before = await this.#database.getMany(keys.map((key) => ENTRY_PREFIX + key));
    return keys.map((key, at) => (this.#values.has(key) ? this.#values.get(key) : before[at]));
  }

  change(key: string, existing: string | undefined, value: string | undefined): void {
    if (existing === undefined && value === undefined) return;
    if (existing !== undefined) this.checksum.remove(key, existing);
    if (value === undefined) this.#batch.del(ENTRY_PREFIX + key);
    else {
      this.checksum.add(key, value);
      this.#batch.put(ENTRY_PREFIX + key, value);
    }
    this.#values.set(key, value);
    this.changes.push({ key, value });
  }
}
