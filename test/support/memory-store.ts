import type {
  KvEntry,
  KvPart,
  KvSnapshot,
  KvStore,
  Revision,
  Watch,
  WatchHandlers,
} from '#datastore/api.ts';
import { StoreClosedError } from '#datastore/api.ts';
import { ChangeLog } from '#datastore/change-log.ts';
import { compareKeys, sortKeys } from '#infra/collections/key-order.ts';

/** Number of the next store, which distinguishes the revisions of the stores in this process. */
let instances = 0;

/** A store in memory: with FaultInjectingStore the test double of etcd and of the stores on disk. */
export class MemoryStore implements KvStore {
  readonly name = 'memory';
  readonly #entries = new Map<string, string>();
  readonly #logLimit: number;
  #log: ChangeLog;
  #closed = false;

  /** @param logLimit how many changes a watch may lag behind before it is lost */
  constructor(logLimit = 10_000) {
    this.#logLimit = logLimit;
    this.#log = this.#newLog();
  }

  async get(key: string): Promise<string | undefined> {
    this.#open();
    return this.#entries.get(key);
  }

  async list(prefix: string): Promise<KvSnapshot> {
    this.#open();
    const keys: string[] = [];
    for (const key of this.#entries.keys()) if (key.startsWith(prefix)) keys.push(key);
    return {
      entries: sortKeys(keys).map((key) => ({ key, value: this.#entries.get(key)! })),
      revision: this.#log.revision(),
    };
  }

  async part(prefix: string, after: string | undefined, limit: number): Promise<KvPart> {
    const { entries } = await this.list(prefix);
    const rest = entries.filter(({ key }) => after === undefined || compareKeys(key, after) > 0);
    return { entries: rest.slice(0, limit), isLast: rest.length <= limit };
  }

  async pages(prefix: string, onPage: (entries: readonly KvEntry[]) => void): Promise<Revision> {
    const { entries, revision } = await this.list(prefix);
    onPage(entries);
    return revision;
  }

  async put(key: string, value: string): Promise<void> {
    this.#write(new Map([[key, value]]));
  }

  async putAll(entries: ReadonlyMap<string, string | undefined>): Promise<void> {
    this.#write(entries);
  }

  async putIfAbsent(key: string, value: string): Promise<{ created: boolean; value: string }> {
    this.#open();
    const existing = this.#entries.get(key);
    if (existing !== undefined) return { created: false, value: existing };
    this.#write(new Map([[key, value]]));
    return { created: true, value };
  }

  async compareAndSwap(key: string, expected: string, value: string): Promise<boolean> {
    this.#open();
    if (this.#entries.get(key) !== expected) return false;
    this.#write(new Map([[key, value]]));
    return true;
  }

  async compareAndDelete(key: string, expected: string): Promise<boolean> {
    this.#open();
    if (this.#entries.get(key) !== expected) return false;
    this.#write(new Map([[key, undefined]]));
    return true;
  }

  async delete(key: string): Promise<boolean> {
    this.#open();
    const existed = this.#entries.has(key);
    this.#write(new Map([[key, undefined]]));
    return existed;
  }

  watch(prefix: string, from: Revision, handlers: WatchHandlers): Watch {
    this.#open();
    return this.#log.watch(prefix, from, handlers);
  }

  async identity(): Promise<string> {
    this.#open();
    return this.#log.origin;
  }

  async probe(): Promise<void> {
    this.#open();
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#log.close();
  }

  /** Discards the history: older revisions are lost, open watches continue. */
  compact(): void {
    this.#log.compact();
  }

  /** Replaces the database by an empty one: all watches and all older revisions are lost. */
  wipe(): void {
    const before = this.#log;
    this.#entries.clear();
    this.#log = this.#newLog();
    before.loseWatches();
  }

  #newLog(): ChangeLog {
    return new ChangeLog(`memory${instances++}`, this.#logLimit);
  }

  #open(): void {
    if (this.#closed) throw new StoreClosedError('the store is closed', { where: this.name });
  }

  #write(entries: ReadonlyMap<string, string | undefined>): void {
    this.#open();
    const changes: { key: string; value: string | undefined }[] = [];
    for (const [key, value] of entries) {
      if (value !== undefined) this.#entries.set(key, value);
      else if (!this.#entries.delete(key)) continue;
      changes.push({ key, value });
    }
    this.#log.append(changes);
  }
}
