import type { Level } from 'level';
import { errorText } from '#infra/errors/errors.ts';
import { type Logger, silentLogger } from '#infra/log/log.ts';
import type { KvEntry, KvSnapshot, KvStore, Revision, Watch, WatchHandlers } from './api.ts';
import { StoreClosedError, StoreUnavailableError } from './api.ts';
import { ChangeLog } from './change-log.ts';
import { ContentChecksum } from './level-checksum.ts';
import { type LockWait, openLevel } from './open-level.ts';

/** Prefix of the entries, which separates them from the checksum. */
const ENTRY_PREFIX = 'k';
const CHECKSUM_KEY = 'seal';
/** Number of entries per read; the main thread can yield between two reads. */
const SLICE = 256;

export interface LevelOptions {
  readonly folder: string;
  /**
   * Prefix of entries that another source can restore. When entries are lost, all entries below the
   * prefix are discarded instead of served incompletely; other entries are served as they are, and
   * `damage` describes the loss. With the empty prefix a database that cannot be repaired starts
   * empty.
   */
  readonly expendable?: string;
  readonly log?: Logger;
  /** How long to wait while another process has the database open; default: not at all. */
  readonly lockWait?: LockWait;
  /** How many changes a watch may lag behind before it is lost. */
  readonly logLimit?: number;
}

type Database = Level<string, string>;
type Range = Pick<ReturnType<typeof rangeOf>, 'nextv' | 'close'>;

/**
 * An embedded database in its own folder. Every write is one batch, and is on the disk when its
 * promise resolves; after a crash the database contains each batch whole or not at all.
 */
export class LevelStore implements KvStore {
  readonly name: string;
  /** Damage that was found when the database was opened; undefined: none. */
  readonly damage: string | undefined;
  readonly #database: Database;
  readonly #log: ChangeLog;
  #checksum: ContentChecksum;
  #closed = false;
  /** End of the queue of writes: each reads before it writes, so they run one after the other. */
  #writing: Promise<unknown> = Promise.resolve();

  /** @throws StoreOpenError */
  static async open(options: LevelOptions): Promise<LevelStore> {
    const { folder, expendable, log = silentLogger, lockWait, logLimit = 10_000 } = options;
    const database = await openLevel(folder, expendable === '', log, lockWait);
    try {
      const checksumText = await database.get(CHECKSUM_KEY);
      const written = checksumText === undefined ? undefined : ContentChecksum.parse(checksumText);
      let found = new ContentChecksum();
      for await (const { key, value } of entries(rangeOf(database, ''), '')) found.add(key, value);
      const damage = ContentChecksum.damage(written, found);
      if (damage !== undefined) {
        log.error({ folder, damage, dropped: expendable }, 'the database has lost entries');
        if (expendable !== undefined) found = await dropPrefix(database, expendable);
      }
      found.generation = (written?.generation ?? 0) + 1;
      await database.batch([{ type: 'put', key: CHECKSUM_KEY, value: found.toString() }], {
        sync: true,
      });
      return new LevelStore(folder, database, found, damage, logLimit);
    } catch (thrown) {
      await database.close();
      throw thrown;
    }
  }

  private constructor(
    folder: string,
    database: Database,
    checksum: ContentChecksum,
    damage: string | undefined,
    logLimit: number,
  ) {
    this.name = `level ${folder}`;
    this.damage = damage;
    this.#database = database;
    this.#checksum = checksum;
    this.#log = new ChangeLog(`level${checksum.generation}`, logLimit);
  }

  get(key: string): Promise<string | undefined> {
    return this.#run(() => this.#database.get(ENTRY_PREFIX + key));
  }

  list(prefix: string): Promise<KvSnapshot> {
    return this.#run(async () => {
      // Created between two writes, so that iterator (a snapshot) and revision match.
      const { iterator, revision } = await this.#turn(() => ({
        iterator: rangeOf(this.#database, prefix),
        revision: this.#log.revision(),
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
    this.#open();
    return this.#log.watch(prefix, from, handlers);
  }

  async probe(): Promise<void> {
    await this.get(CHECKSUM_KEY);
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#log.close();
    await this.#writing;
    await this.#database.close();
  }

  #open(): void {
    if (this.#closed) throw new StoreClosedError('the store is closed', { where: this.name });
  }

  async #run<T>(action: () => Promise<T>): Promise<T> {
    this.#open();
    try {
      return await action();
    } catch (thrown) {
      this.#open();
      throw new StoreUnavailableError(errorText(thrown), { where: this.name, cause: thrown });
    }
  }

  /**
   * Writes one batch if the value of the first key meets the condition.
   * @returns the previous value of the first key
   */
  #write(
    all: ReadonlyMap<string, string | undefined>,
    condition: (existing: string | undefined) => boolean = () => true,
  ): Promise<string | undefined> {
    return this.#run(() => this.#turn(() => this.#apply(all, condition)));
  }

  /** Runs an action after all earlier writes. */
  #turn<T>(action: () => T | Promise<T>): Promise<T> {
    const turn = this.#writing.then(action);
    this.#writing = turn.catch(() => undefined);
    return turn;
  }

  async #apply(
    all: ReadonlyMap<string, string | undefined>,
    condition: (existing: string | undefined) => boolean,
  ): Promise<string | undefined> {
    const keys = [...all.keys()];
    const changes: { key: string; value: string | undefined }[] = [];
    const checksum = this.#checksum.copy();
    await using batch = this.#database.batch();
    let first: string | undefined;
    for (let from = 0; from < keys.length; from += SLICE) {
      const slice = keys.slice(from, from + SLICE);
      const before = await this.#database.getMany(slice.map((key) => ENTRY_PREFIX + key));
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
    if (changes.length === 0) return first;
    await batch.put(CHECKSUM_KEY, checksum.toString()).write({ sync: true });
    this.#checksum = checksum;
    this.#log.append(changes);
    return first;
  }
}

/** Deletes all entries of a prefix and computes the checksum of the others. */
async function dropPrefix(database: Database, prefix: string): Promise<ContentChecksum> {
  const kept = new ContentChecksum();
  const dropped: string[] = [];
  for await (const { key, value } of entries(rangeOf(database, ''), '')) {
    if (key.startsWith(prefix)) dropped.push(ENTRY_PREFIX + key);
    else kept.add(key, value);
  }
  await database.batch(dropped.map((key) => ({ type: 'del', key })));
  return kept;
}

/** An iterator over a snapshot, from the prefix on. */
function rangeOf(database: Database, prefix: string) {
  return database.iterator<string, string>({ gte: ENTRY_PREFIX + prefix });
}

async function* entries(iterator: Range, prefix: string): AsyncGenerator<KvEntry> {
  try {
    for (;;) {
      const slice = await iterator.nextv(SLICE);
      if (slice.length === 0) return;
      for (const [key, value] of slice) {
        if (!key.startsWith(ENTRY_PREFIX + prefix)) return;
        yield { key: key.slice(ENTRY_PREFIX.length), value };
      }
    }
  } finally {
    await iterator.close();
  }
}
