import type { KvChange } from '#datastore/api.ts';

export interface PendingChange extends KvChange {
  /** When the agent has received it: milliseconds since the epoch. */
  readonly heard: number;
}

/** Changes by key, the oldest first: a change that replaces one of its key is the newest. */
class ChangeQueue {
  readonly #changes = new Map<string, PendingChange>();
  /** Stays, because a new one would pass all the changes that were removed before it. */
  #oldest = this.#changes.values();

  get size(): number {
    return this.#changes.size;
  }

  has(key: string): boolean {
    return this.#changes.has(key);
  }

  add(change: PendingChange): void {
    this.#changes.delete(change.key);
    this.#changes.set(change.key, change);
  }

  remove(key: string): PendingChange | undefined {
    const change = this.#changes.get(key);
    this.#changes.delete(key);
    return change;
  }

  next(): PendingChange | undefined {
    let { value: change } = this.#oldest.next();
    if (!change) {
      // an iterator that has ended sees nothing that is added later
      this.#oldest = this.#changes.values();
      change = this.#oldest.next().value;
    }
    if (change) this.#changes.delete(change.key);
    return change;
  }
}

/**
 * Changes of the database that wait for the event loop. Of several changes of one key only the last one is kept, so that
 * there are never more than keys. Those of records are not given up for a resync, however many they are: all agents have the
 * same ones, and etcd cannot send everything to all of them in the time that the events take.
 */
export class PendingChanges {
  readonly #urgent = new ChangeQueue();
  readonly #others = new ChangeQueue();
  /** Keys of external configuration, in either queue. */
  readonly #external = new Set<string>();
  readonly #isKnown: (change: KvChange) => boolean;
  readonly #isExternal: (key: string) => boolean;

  /**
   * @param isKnown whether the event loop has what the key has now: such a change is not kept
   * @param isExternal whether a key is of external configuration
   */
  constructor(isKnown: (change: KvChange) => boolean, isExternal: (key: string) => boolean) {
    this.#isKnown = isKnown;
    this.#isExternal = isExternal;
  }

  get size(): number {
    return this.#urgent.size + this.#others.size;
  }

  /** Those of external configuration, which no other agent has. */
  get externalSize(): number {
    return this.#external.size;
  }

  has(key: string): boolean {
    return this.#urgent.has(key) || this.#others.has(key);
  }

  add(change: PendingChange): void {
    const queue = this.#urgent.remove(change.key) ? this.#urgent : this.#others;
    this.#others.remove(change.key);
    this.#external.delete(change.key);
    if (this.#isKnown(change)) return;
    queue.add(change);
    if (this.#isExternal(change.key)) this.#external.add(change.key);
  }

  /** Lets the changes of these keys overtake the others. */
  hasten(keys: Iterable<string>): void {
    for (const key of keys) {
      const change = this.#others.remove(key);
      if (change) this.#urgent.add(change);
    }
  }

  /** Removes and returns the next change. */
  next(): PendingChange | undefined {
    const change = this.#urgent.next() ?? this.#others.next();
    if (change) this.#external.delete(change.key);
    return change;
  }
}
