import type { KvChange, KvSnapshot, KvStore, Revision, Watch, WatchHandlers } from './api.ts';
import { StoreUnavailableError, WatchLostError } from './api.ts';

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
 * A store with the troubles of a database far away, at the call of a test or a simulation: replies
 * and changes that get lost or late, outages, and the end of the process at any point around any
 * write.
 */
export class FaultInjectingStore implements KvStore {
  readonly name: string;
  /** Before a write is made; what it throws the caller gets, and nothing is written. */
  beforeWrite: ((write: Write) => void | Promise<void>) | undefined;
  /** After a write was made; what it throws the caller gets in place of the reply. */
  afterWrite: ((write: Write) => void | Promise<void>) | undefined;
  /** Changes that no watch hears of, as if the database had lost them. */
  isDropped: ((change: KvChange) => boolean) | undefined;
  /** Points at which a crash is possible that were passed: one before and one after each write. */
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
   * Ends the caller's life at a crash point (the first is 0): from there on every call rejects and
   * no watch is heard. A restart is a new FaultyStore over the same store.
   */
  crashAt(point: number): void {
    this.#crashPoint = point;
  }

  /** From now on the store is out of reach: calls reject, watches are silent. */
  disconnect(reason = 'out of reach'): void {
    this.#outage = reason;
    for (const watch of this.#watches) {
      watch.inner?.close();
      watch.inner = undefined;
    }
  }

  /** Ends the outage; the watches go on from where they were, or are lost if that is compacted. */
  reconnect(): void {
    this.#outage = undefined;
    for (const watch of this.#watches) this.#connect(watch);
  }

  /** Holds the changes back until `release`. */
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

  /** A reply that was under way when the outage began does not arrive. */
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
