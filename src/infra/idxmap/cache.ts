/**
 * A local copy of what stands under a prefix of a key-value store, found by name and by secondary
 * indexes. An entry that makes no sense is logged and skipped: what the cache had under its name
 * stays until something better comes.
 */
import type { Clock } from '../clock/clock.ts';
import { errorText } from '../errors/errors.ts';
import type { Logger } from '../log/log.ts';
import { type Fields, IndexMap, type NamedMapping } from './idxmap.ts';

/** Before the store is read again after it could not be. */
const RETRY_MS = 1000;

export interface CacheEntry {
  readonly key: string;
  readonly value: string;
}

export interface CacheChange {
  readonly key: string;
  /** undefined: the key was deleted. */
  readonly value: string | undefined;
}

/** What a cache needs of a key-value store. @typeParam R a point in its history */
export interface CacheSource<R> {
  list(prefix: string): Promise<{ readonly entries: readonly CacheEntry[]; readonly revision: R }>;
  watch(
    prefix: string,
    from: R,
    handlers: {
      onChanges(changes: readonly CacheChange[]): void;
      onLost(reason: Error): void;
    },
  ): { close(): void };
}

export interface CacheOptions<V> {
  /** Of the map. */
  readonly title: string;
  readonly log: Logger;
  readonly prefix: string;
  /** What stands behind the prefix is the name, unless this says otherwise; throws on nonsense. */
  readonly nameOf?: (key: string) => string;
  /** Throws on nonsense. */
  readonly parse: (text: string) => V;
  /** Secondary index of an item; depends on the item alone. */
  readonly fieldsOf?: (value: V) => Fields;
}

export class CacheHelper<V> {
  readonly #options: CacheOptions<V>;
  readonly #map: IndexMap<V>;
  /** Text of each name, to tell what is news. */
  readonly #texts = new Map<string, string>();

  constructor(options: CacheOptions<V>) {
    this.#options = options;
    this.#map = new IndexMap(options.title, options.log, options.fieldsOf);
  }

  /** For everyone else: to look up and to watch. */
  get map(): NamedMapping<V> {
    return this.#map;
  }

  /** Takes changes in, in their order. Watchers hear of what is news. */
  change(changes: readonly CacheChange[]): void {
    for (const { key, value } of changes) {
      const name = this.#nameOf(key);
      if (name === undefined) continue;
      if (value === undefined) this.#drop(name);
      else this.#take(key, name, value);
    }
  }

  /** Takes in all that stands under the prefix: what is not among it goes. */
  resync(entries: readonly CacheEntry[]): void {
    const stays = new Set<string>();
    for (const { key, value } of entries) {
      const name = this.#nameOf(key);
      if (name === undefined) continue;
      stays.add(name);
      this.#take(key, name, value);
    }
    for (const name of this.#map.listAllNames()) if (!stays.has(name)) this.#drop(name);
  }

  /**
   * Keeps up with a store from now on: reads everything, goes on from there, and reads everything
   * again when the watch cannot go on.
   * @returns ends it
   */
  follow<R>(source: CacheSource<R>, clock: Clock): () => void {
    const { prefix, log } = this.#options;
    const ending = new AbortController();
    const { signal } = ending;
    let watch: { close(): void } | undefined;
    const complain = (reason: unknown): void =>
      log.warn({ prefix, error: errorText(reason) }, 'Cache reads everything again');
    const begin = async (): Promise<void> => {
      while (!signal.aborted)
        try {
          const { entries, revision } = await source.list(prefix);
          if (signal.aborted) return;
          this.resync(entries);
          watch = source.watch(prefix, revision, {
            onChanges: (changes) => this.change(changes),
            onLost: (reason) => {
              complain(reason);
              void begin();
            },
          });
          return;
        } catch (thrown) {
          complain(thrown);
          await clock.sleep(RETRY_MS, signal).catch(() => undefined);
        }
    };
    void begin();
    return () => {
      ending.abort();
      watch?.close();
    };
  }

  #nameOf(key: string): string | undefined {
    const { prefix, nameOf, log } = this.#options;
    if (!key.startsWith(prefix)) return undefined;
    try {
      return nameOf ? nameOf(key) : key.slice(prefix.length);
    } catch (thrown) {
      log.warn({ key, error: errorText(thrown) }, 'Key makes no sense: skipped');
      return undefined;
    }
  }

  #take(key: string, name: string, text: string): void {
    if (this.#texts.get(name) === text) return;
    try {
      this.#map.put(name, this.#options.parse(text));
      this.#texts.set(name, text);
    } catch (thrown) {
      const { log } = this.#options;
      log.warn({ key, error: errorText(thrown) }, 'Value makes no sense: skipped');
    }
  }

  #drop(name: string): void {
    this.#texts.delete(name);
    this.#map.delete(name);
  }
}
