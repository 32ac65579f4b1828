import type { CodedError } from '#infra/errors/errors.ts';
import type { KvEntry, KvSnapshot, KvStore, Revision, Watch, WatchHandlers } from './api.ts';
import type { DiskStore, StoreLoss } from './disk-store.ts';
import { type Database, ENTRY_PREFIX, entries, newBatch, rangeOf, SLICE } from './level-content.ts';
import { type Change, type LevelOptions, SealedLevel } from './sealed-level.ts';

/**
 * An embedded database in its own folder. Every write is one batch, and is on the disk when its
 * promise resolves; after a crash the database contains each batch whole or not at all.
 */
export class LevelStore implements KvStore, DiskStore {
  readonly name: string;
  readonly folder: string;
  readonly #level: SealedLevel;

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
      return this.#level.commit(newBatch(database), seal, []);
    });
  }

  async tryWrite(): Promise<void> {
    await this.#level.write((database) =>
      this.#level.commit(newBatch(database), this.#level.seal, []),
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
   * Writes one batch if the value of the first key meets the condition.
   * @returns the previous value of the first key
   */
  #write(
    all: ReadonlyMap<string, string | undefined>,
    condition: (existing: string | undefined) => boolean = () => true,
  ): Promise<string | undefined> {
    return this.#level.write((database) => this.#apply(database, all, condition));
  }

  async #apply(
    database: Database,
    all: ReadonlyMap<string, string | undefined>,
    condition: (existing: string | undefined) => boolean,
  ): Promise<string | undefined> {
    const keys = [...all.keys()];
    const changes: Change[] = [];
    const { seal } = this.#level;
    const checksum = seal.checksum.copy();
    await using batch = newBatch(database);
    let first: string | undefined;
    for (let from = 0; from < keys.length; from += SLICE) {
      const slice = keys.slice(from, from + SLICE);
      const before = await database.getMany(slice.map((key) => ENTRY_PREFIX + key));
      if (from === 0) {
        first = before[0];
        if (!condition(first)) break;
      }
      for (const [at, key] of slice.entries()) {
        const existing = before[at];
        const value = all.get(key);
        if (existing !== undefined) checksum.remove(key, existing);
        else if (value === undefined) continue;
        if (value === undefined) batch.del(ENTRY_PREFIX + key);
        else {
          checksum.add(key, value);
          batch.put(ENTRY_PREFIX + key, value);
        }
        changes.push({ key, value });
      }
    }
    if (changes.length > 0)
      await this.#level.commit(batch, { ...seal, checksum, sequence: seal.sequence + 1 }, changes);
    return first;
  }
}
