import type { Level } from 'level';
import { errorText } from '#infra/errors/errors.ts';
import { type Logger, silentLogger } from '#infra/log/log.ts';
import type { KvEntry, KvSnapshot, KvStore, Revision, Watch, WatchHandlers } from './api.ts';
import { StoreClosedError, StoreUnavailableError } from './api.ts';
import { ChangeLog } from './change-log.ts';
import { ContentChecksum } from './level-checksum.ts';
import { type LockWait, openLevel } from './open-level.ts';

/** Where the entries stand in the database, apart from the seal. */
const ENTRY_PREFIX = 'k';
const CHECKSUM_KEY = 'seal';
/** Entries read at once: keeps the main thread free in between. */
const SLICE = 256;

export interface LevelOptions {
  readonly folder: string;
  /**
   * Prefix of what can be had again from elsewhere. When entries were lost, the rest below it is
   * dropped rather than served with holes; everything else is served as it is, and `damage` says
   * so. With the empty prefix a database that cannot be repaired starts anew.
   */
  readonly expendable?: string;
  readonly log?: Logger;
  /** For another process that may hold the database a moment longer; default: no waiting. */
  readonly lockWait?: LockWait;
  /** How many changes a watch may lag behind before it is lost. */
  readonly logLimit?: number;
}

type Database = Level<string, string>;
type Range = Pick<ReturnType<typeof rangeOf>, 'nextv' | 'close'>;

/**
 * An embedded database in a folder of its own. Every write is one batch and on the disk when its
 * promise resolves; after a crash the database holds each batch whole or not at all.
 */
export class LevelStore implements KvStore {
  readonly name: string;
  /** What was missing or wrong when the database was opened. */
  readonly damage: string | undefined;
  readonly #database: Database;
  readonly #log: ChangeLog;
  #seal: ContentChecksum;
  #closed = false;
  /** End of the queue of writes: they read before they write, so one goes after the other. */
  #writing: Promise<unknown> = Promise.resolve();

  /** @throws StoreOpenError */
  static async open(options: LevelOptions): Promise<LevelStore> {
    const { folder, expendable, log = silentLogger, lockWait, logLimit = 10_000 } = options;
    const database = await openLevel(folder, expendable === '', log, lockWait);
    try {
      const sealText = await database.get(CHECKSUM_KEY);
      const written = sealText === undefined ? undefined : ContentChecksum.parse(sealText);
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
    seal: ContentChecksum,
    damage: string | undefined,
    logLimit: number,
  ) {
    this.name = `level ${folder}`;
    this.damage = damage;
    this.#database = database;
    this.#seal = seal;
    this.#log = new ChangeLog(`level${seal.generation}`, logLimit);
  }

  get(key: string): Promise<string | undefined> {
    return this.#run(() => this.#database.get(ENTRY_PREFIX + key));
  }

  list(prefix: string): Promise<KvSnapshot> {
    return this.#run(async () => {
      // Taken between two writes, so that iterator (a snapshot) and revision tell of the same ones.
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
    const before = await this.#write(new Map([[key, value]]), (there) => there === undefined);
    return before === undefined ? { created: true, value } : { created: false, value: before };
  }

  async compareAndSwap(key: string, expected: string, value: string): Promise<boolean> {
    const change = new Map([[key, value]]);
    return (await this.#write(change, (there) => there === expected)) === expected;
  }

  async compareAndDelete(key: string, expected: string): Promise<boolean> {
    const change = new Map([[key, undefined]]);
    return (await this.#write(change, (there) => there === expected)) === expected;
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
   * Writes one batch unless the condition on the first key's value forbids it.
   * @returns the value of the first key before
   */
  #write(
    all: ReadonlyMap<string, string | undefined>,
    condition: (there: string | undefined) => boolean = () => true,
  ): Promise<string | undefined> {
    return this.#run(() => this.#turn(() => this.#apply(all, condition)));
  }

  /** Runs an action when all writes before it are done. */
  #turn<T>(action: () => T | Promise<T>): Promise<T> {
    const turn = this.#writing.then(action);
    this.#writing = turn.catch(() => undefined);
    return turn;
  }

  async #apply(
    all: ReadonlyMap<string, string | undefined>,
    condition: (there: string | undefined) => boolean,
  ): Promise<string | undefined> {
    const keys = [...all.keys()];
    const changes: { key: string; value: string | undefined }[] = [];
    const seal = this.#seal.copy();
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
        const there = before[at];
        const value = all.get(key);
        if (there !== undefined) seal.remove(key, there);
        else if (value === undefined) continue;
        if (value === undefined) batch.del(ENTRY_PREFIX + key);
        else {
          seal.add(key, value);
          batch.put(ENTRY_PREFIX + key, value);
        }
        changes.push({ key, value });
      }
    }
    if (changes.length === 0) return first;
    await batch.put(CHECKSUM_KEY, seal.toString()).write({ sync: true });
    this.#seal = seal;
    this.#log.append(changes);
    return first;
  }
}

/** Removes all entries of a prefix and seals what stays. */
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

/** Everything from the prefix on, as it is at this moment. */
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
