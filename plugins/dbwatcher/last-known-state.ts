import { isDeepStrictEqual } from 'node:util';
import type { KvEntry } from '#datastore/api.ts';
import { errorText } from '#infra/errors/errors.ts';
import type { Logger } from '#infra/log/log.ts';
import { decode, type KeySpace, type WatchedKey } from './key-space.ts';

export interface LastKnownEntry {
  readonly watchedKey: WatchedKey;
  /** What stands in the store. */
  readonly text: string;
  /** The last value that made sense, as the event loop has it; undefined: it has none. */
  readonly value: object | undefined;
}

export interface Difference {
  readonly watchedKey: WatchedKey;
  readonly previous: object | undefined;
  readonly current: object | undefined;
}

/** A change on its way: what the event loop has to hear of it, and how to take it as known. */
export interface PendingChange {
  /** undefined: nothing that matters has changed. */
  readonly difference: Difference | undefined;
  /** To be called when the event loop has taken the difference. */
  accept(): void;
}

/** What the event loop was told of the store: the base of `previous` in events. */
export class LastKnownState {
  readonly #keySpace: KeySpace;
  readonly #log: Logger;
  readonly #entries = new Map<string, LastKnownEntry>();
  readonly #broken = new Map<string, string>();

  constructor(keySpace: KeySpace, log: Logger) {
    this.#keySpace = keySpace;
    this.#log = log;
  }

  get broken(): ReadonlyMap<string, string> {
    return this.#broken;
  }

  get hasReflectedState(): boolean {
    for (const { watchedKey } of this.#entries.values()) if (watchedKey.reflected) return true;
    return false;
  }

  /** Takes over an entry of a snapshot; undefined when it is not ours. */
  add({ key, value: text }: KvEntry): LastKnownEntry | undefined {
    const watchedKey = this.#keySpace.find(key);
    if (!watchedKey) return undefined;
    const entry = { watchedKey, text, value: this.#decode(watchedKey, key, text) };
    this.#entries.set(key, entry);
    return entry;
  }

  /** @param text what stands under the key now; undefined: it is gone */
  prepareChange(key: string, text: string | undefined): PendingChange {
    const watchedKey = this.#keySpace.find(key);
    const known = this.#entries.get(key);
    const nothing: PendingChange = { difference: undefined, accept: () => undefined };
    // The second case is the echo of what a snapshot has brought already.
    if (!watchedKey || known?.text === text) return nothing;
    const previous = known?.value;
    if (text === undefined) {
      return {
        difference: previous && { watchedKey, previous, current: undefined },
        accept: () => {
          this.#entries.delete(key);
          this.#broken.delete(key);
        },
      };
    }
    const decoded = this.#decode(watchedKey, key, text);
    const differs = decoded !== undefined && !isDeepStrictEqual(decoded, previous);
    return {
      difference: differs ? { watchedKey, previous, current: decoded } : undefined,
      // A broken value takes nothing away: the event loop keeps the last one that made sense.
      accept: () => this.#entries.set(key, { watchedKey, text, value: decoded ?? previous }),
    };
  }

  /** What stands in the store as far as is known. */
  text(key: string): string | undefined {
    return this.#entries.get(key)?.text;
  }

  keys(): Iterable<string> {
    return this.#entries.keys();
  }

  /** Entries with a value that makes sense, as they stand in the store. */
  *validEntries(): Iterable<readonly [string, string]> {
    for (const [key, { text }] of this.#entries) if (this.isValid(key)) yield [key, text];
  }

  /** The value that stands under the key makes sense. */
  isValid(key: string): boolean {
    return this.#entries.get(key)?.value !== undefined && !this.#broken.has(key);
  }

  #decode(watchedKey: WatchedKey, key: string, text: string): object | undefined {
    try {
      const value = decode(watchedKey, key, text);
      this.#broken.delete(key);
      return value;
    } catch (thrown) {
      const reason = errorText(thrown);
      if (this.#broken.get(key) !== reason)
        this.#log.warn({ key, reason }, 'a value in the datastore makes no sense and is skipped');
      this.#broken.set(key, reason);
      return undefined;
    }
  }
}
