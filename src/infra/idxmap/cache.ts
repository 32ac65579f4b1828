/**
 * A local copy of the entries below a prefix of a key-value store, with lookup by name and by
 * secondary index. An invalid entry is logged and ignored: the last valid value of its name stays in
 * the cache.
 */
import type { Clock } from '../clock/clock.ts';
import { errorText } from '../errors/errors.ts';
import type { Logger } from '../log/log.ts';
import { type Fields, IndexMap, type NamedMapping } from './idxmap.ts';

/** Pause before a failed read of the store is retried. */
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

/** The operations of a key-value store that a cache uses. @typeParam R a revision of the store */
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
  /** Title of the map. */
  readonly title: string;
  readonly log: Logger;
  readonly prefix: string;
  /** Name of a key; default: the key without the prefix. Throws for an invalid key. */
  readonly nameOf?: (key: string) => string;
  /** Throws for an invalid value. */
  readonly parse: (text: string) => V;
  /** Secondary index of an item; depends on the item alone. */
  readonly fieldsOf?: (value: V) => Fields;
}

export class CacheHelper<V> {
  readonly #options: CacheOptions<V>;
  readonly #map: IndexMap<V>;
  /** Last text of each name, to detect changes. */
  readonly #texts = new Map<string, string>();

  constructor(options: CacheOptions<V>) {
    this.#options = options;
    this.#map = new IndexMap(options.title, options.log, options.fieldsOf);
  }

  /** Read access for the users of the cache. */
  get map(): NamedMapping<V> {
    return this.#map;
  }

  /** Applies changes in their order, and notifies the watchers of those that differ. */
  change(changes: readonly CacheChange[]): void {
    for (const { key, value } of changes) {
      const name = this.#nameOf(key);
      if (name === undefined) continue;
      if (value === undefined) this.#drop(name);
      else this.#take(key, name, value);
    }
  }

  /** Applies a snapshot of the prefix, and deletes all names that are not in it. */
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
   * Follows a store: reads a snapshot, watches from there, and reads a new snapshot when the watch
   * is lost.
   * @returns stops following
   */
  follow<R>(source: CacheSource<R>, clock: Clock): () => void {
    const { prefix, log } = this.#options;
    const ending = new AbortController();
    const { signal } = ending;
    let watch: { close(): void } | undefined;
    const warn = (reason: unknown): void =>
      log.warn({ prefix, error: errorText(reason) }, 'cache reads a new snapshot');
    const begin = async (): Promise<void> => {
      while (!signal.aborted)
        try {
          const { entries, revision } = await source.list(prefix);
          if (signal.aborted) return;
          this.resync(entries);
          watch = source.watch(prefix, revision, {
            onChanges: (changes) => this.change(changes),
            onLost: (reason) => {
              warn(reason);
              void begin();
            },
          });
          return;
        } catch (thrown) {
          warn(thrown);
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
      log.warn({ key, error: errorText(thrown) }, 'ignoring invalid key');
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
      log.warn({ key, error: errorText(thrown) }, 'ignoring invalid value');
    }
  }

  #drop(name: string): void {
    this.#texts.delete(name);
    this.#map.delete(name);
  }
}
