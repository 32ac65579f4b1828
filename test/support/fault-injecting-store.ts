import type {
  KvChange,
  KvEntry,
  KvPart,
  KvSnapshot,
  KvStore,
  Revision,
  Watch,
  WatchHandlers,
} from '#datastore/api.ts';
import { StoreUnavailableError, WatchLostError } from '#datastore/api.ts';

export interface Write {
  readonly operation:
    | 'put'
    | 'putAll'
    | 'putIfAbsent'
    | 'compareAndSwap'
    | 'compareAndDelete'
    | 'delete';
  readonly keys: readonly string[];
}

interface InterceptedWatch {
  readonly prefix: string;
  readonly handlers: WatchHandlers;
  revision: Revision;
  inner: Watch | undefined;
  withheld: KvChange[];
}

/**
 * A store with fault injection for tests and simulations: lost or late replies and changes, outages,
 * and a crash of the process before or after any write.
 */
export class FaultInjectingStore implements KvStore {
  readonly name: string;
  /** Called before a write; when it throws, the caller gets the error and nothing is written. */
  beforeWrite: ((write: Write) => void | Promise<void>) | undefined;
  /** Called after a write; when it throws, the caller gets the error instead of the reply. */
  afterWrite: ((write: Write) => void | Promise<void>) | undefined;
  /** Called after each page of `pages`, which then has at most two entries. */
  afterPage: (() => void | Promise<void>) | undefined;
  /** Changes that are not delivered to watches, as if the database had lost them. */
  isDropped: ((change: KvChange) => boolean) | undefined;
  /** Number of crash points so far: one before and one after each write. */
  crashPoints = 0;
  readonly #inner: KvStore;
  readonly #watches = new Set<InterceptedWatch>();
  #crashPoint = Number.POSITIVE_INFINITY;
  #outage: string | undefined;
  #holding = false;

  constructor(inner: KvStore) {
    this.#inner = inner;
    this.name = `faulty ${inner.name}`;
  }

  /**
   * Simulates a crash of the caller at a crash point (the first is 0): from there on every call
   * rejects and no watch delivers. A restart is a new FaultInjectingStore over the same store.
   */
  crashAt(point: number): void {
    this.#crashPoint = point;
  }

  /** Starts an outage: calls reject, watches deliver nothing. */
  disconnect(reason = 'out of reach'): void {
    this.#outage = reason;
    for (const watch of this.#watches) {
      watch.inner?.close();
      watch.inner = undefined;
    }
  }

  /** Ends the outage; the watches resume, or are lost when their revision is compacted. */
  reconnect(): void {
    this.#outage = undefined;
    for (const watch of this.#watches) this.#connect(watch);
  }

  /** Withholds changes until `releaseChanges`. */
  withholdChanges(): void {
    this.#holding = true;
  }

  releaseChanges(): void {
    this.#holding = false;
    for (const watch of [...this.#watches]) {
      if (watch.withheld.length > 0) watch.handlers.onChanges(watch.withheld.splice(0));
    }
  }

  /** Ends every watch as a compaction would. */
  loseWatches(reason = 'compacted'): void {
    for (const watch of [...this.#watches]) {
      this.#drop(watch);
      watch.handlers.onLost(new WatchLostError(reason, { where: watch.prefix }));
    }
  }

  async get(key: string): Promise<string | undefined> {
    this.#reach();
    return this.#answer(await this.#inner.get(key));
  }

  async list(prefix: string): Promise<KvSnapshot> {
    this.#reach();
    return this.#answer(await this.#inner.list(prefix));
  }

  async part(prefix: string, after: string | undefined, limit: number): Promise<KvPart> {
    this.#reach();
    return this.#answer(await this.#inner.part(prefix, after, limit));
  }

  async pages(prefix: string, onPage: (entries: readonly KvEntry[]) => void): Promise<Revision> {
    const { entries, revision } = await this.list(prefix);
    const size = this.afterPage ? 2 : entries.length;
    for (let at = 0; at === 0 || at < entries.length; at += Math.max(1, size)) {
      onPage(entries.slice(at, at + size));
      await this.afterPage?.();
      this.#reach();
    }
    return revision;
  }

  put(key: string, value: string): Promise<void> {
    return this.#write('put', [key], () => this.#inner.put(key, value));
  }

  putAll(entries: ReadonlyMap<string, string | undefined>): Promise<void> {
    return this.#write('putAll', [...entries.keys()], () => this.#inner.putAll(entries));
  }

  putIfAbsent(key: string, value: string): Promise<{ created: boolean; value: string }> {
    return this.#write('putIfAbsent', [key], () => this.#inner.putIfAbsent(key, value));
  }

  compareAndSwap(key: string, expected: string, value: string): Promise<boolean> {
    return this.#write('compareAndSwap', [key], () =>
      this.#inner.compareAndSwap(key, expected, value),
    );
  }

  compareAndDelete(key: string, expected: string): Promise<boolean> {
    return this.#write('compareAndDelete', [key], () =>
      this.#inner.compareAndDelete(key, expected),
    );
  }

  delete(key: string): Promise<boolean> {
    return this.#write('delete', [key], () => this.#inner.delete(key));
  }

  watch(prefix: string, from: Revision, handlers: WatchHandlers): Watch {
    const watch: InterceptedWatch = {
      prefix,
      handlers,
      revision: from,
      inner: undefined,
      withheld: [],
    };
    this.#watches.add(watch);
    if (this.#outage === undefined) this.#connect(watch);
    return { close: () => this.#drop(watch) };
  }

  async identity(): Promise<string> {
    this.#reach();
    return this.#answer(await this.#inner.identity());
  }

  async probe(): Promise<void> {
    this.#reach();
    await this.#inner.probe();
    this.#reach();
  }

  async close(): Promise<void> {
    for (const watch of [...this.#watches]) this.#drop(watch);
    await this.#inner.close();
  }

  #reach(): void {
    if (this.#outage !== undefined)
      throw new StoreUnavailableError(this.#outage, { where: this.name });
  }

  /** A reply that was in flight when the outage began is lost. */
  #answer<T>(reply: T): T {
    this.#reach();
    return reply;
  }

  async #write<T>(
    operation: Write['operation'],
    keys: readonly string[],
    action: () => Promise<T>,
  ): Promise<T> {
    const write: Write = { operation, keys };
    this.#reach();
    this.#point();
    await this.beforeWrite?.(write);
    const reply = await action();
    this.#point();
    await this.afterWrite?.(write);
    return this.#answer(reply);
  }

  #point(): void {
    if (this.crashPoints++ >= this.#crashPoint) {
      this.disconnect('crashed');
      this.#reach();
    }
  }

  #connect(watch: InterceptedWatch): void {
    watch.inner = this.#inner.watch(watch.prefix, watch.revision, {
      onChanges: (changes) => {
        watch.revision = changes.at(-1)!.revision;
        const heard = changes.filter((change) => !this.isDropped?.(change));
        if (this.#holding) watch.withheld.push(...heard);
        else if (heard.length > 0) watch.handlers.onChanges(heard);
      },
      onLost: (reason) => {
        this.#drop(watch);
        watch.handlers.onLost(reason);
      },
    });
  }

  #drop(watch: InterceptedWatch): void {
    watch.inner?.close();
    watch.inner = undefined;
    this.#watches.delete(watch);
  }
}
