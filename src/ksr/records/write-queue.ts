/**
 * Keys whose records differ from the datastore, as far as known, in the order in which they are written: changes of the table
 * first, then what a comparison has found, which may be all records; those that the datastore has refused last.
 */

/** Text of a key in the datastore; `unknown`: it must be written in any case. */
export type Stored = string | undefined | typeof unknown;
export const unknown = Symbol('unknown');

export class WriteQueue {
  readonly #stored = new Map<string, Stored>();
  readonly #changed = new Set<string>();
  /** Keys whose last text the datastore has refused. */
  readonly #refused = new Set<string>();

  get size(): number {
    return this.#stored.size;
  }

  has(key: string): boolean {
    return this.#stored.has(key);
  }

  stored(key: string): Stored {
    return this.#stored.get(key);
  }

  /** @param stored unless it waits already */
  addChanged(key: string, stored: Stored): void {
    this.#refused.delete(key);
    if (!this.#stored.has(key)) this.#stored.set(key, stored);
    this.#changed.add(key);
  }

  add(key: string, stored: Stored): void {
    this.#stored.set(key, stored);
  }

  /** Its write has failed: others need not wait for it. */
  addFailed(key: string): void {
    this.#stored.delete(key);
    this.#stored.set(key, unknown);
  }

  /** It is being written. */
  take(key: string): Stored {
    const stored = this.#stored.get(key);
    this.#stored.delete(key);
    this.#changed.delete(key);
    return stored;
  }

  /** It needs no write. */
  drop(key: string): void {
    this.take(key);
    this.#refused.delete(key);
  }

  setRefused(key: string): void {
    this.#refused.add(key);
  }

  setAccepted(key: string): void {
    this.#refused.delete(key);
  }

  isRefused(key: string): boolean {
    return this.#refused.has(key);
  }

  get hasRefused(): boolean {
    return this.#refused.size > 0;
  }

  clear(): void {
    this.#stored.clear();
    this.#changed.clear();
    this.#refused.clear();
  }

  *keys(): Generator<string, void, void> {
    yield* this.#changed;
    for (const key of this.#stored.keys()) if (!this.#changed.has(key)) yield key;
  }
}
