import type { Flow } from '#documents/flows.ts';

/** A record; a change replaces its document. */
export interface FlowRecord {
  readonly flow: Flow;
  /** Milliseconds since the epoch of the last change. */
  readonly changedAt: number;
}

/** A record leaves the memory; the number is that of its last change. */
export type DropListener = (number: number, record: FlowRecord) => void;

/**
 * The newest records, in the order of their last change, which has a number. A record that changes moves to the end, and
 * leaves its place empty; there are twice as many places as records.
 */
export class FlowRing {
  readonly capacity: number;
  readonly #places: (FlowRecord | undefined)[];
  /** Numbers of the last changes, by the id of the record. */
  readonly #numbers = new Map<string, number>();
  #next = 0;
  #oldest = 0;
  readonly #listeners = new Set<() => void>();
  readonly #dropListeners: DropListener[] = [];

  constructor(capacity: number) {
    this.capacity = capacity;
    this.#places = new Array<FlowRecord | undefined>(2 * capacity).fill(undefined);
  }

  get size(): number {
    return this.#numbers.size;
  }

  /** Number of the next change. */
  get next(): number {
    return this.#next;
  }

  /** No record has changed last with a number below. */
  get oldest(): number {
    return this.#oldest;
  }

  get(id: string): FlowRecord | undefined {
    const number = this.#numbers.get(id);
    return number === undefined ? undefined : this.#places[number % this.#places.length];
  }

  /** Adds a record, or replaces that with its id. */
  put(record: FlowRecord): void {
    const { id } = record.flow;
    const before = this.#numbers.get(id);
    if (before !== undefined) this.#places[before % this.#places.length] = undefined;
    else if (this.size === this.capacity) this.#dropOldest();
    const number = this.#next++;
    // its place may have the oldest record
    if (number - this.#oldest === this.#places.length) this.#dropPlace();
    this.#places[number % this.#places.length] = record;
    this.#numbers.set(id, number);
  }

  /** Records that have changed with this number or later, in the order of the changes; with the number. */
  *from(number: number): Generator<readonly [number: number, record: FlowRecord], void, void> {
    for (let at = Math.max(number, this.#oldest); at < this.#next; at++) {
      const record = this.#places[at % this.#places.length];
      if (record) yield [at, record];
    }
  }

  /** The newest records that a condition holds for, at most `limit`, in the order of their changes. */
  newest(limit: number, isWanted: (record: FlowRecord) => boolean): FlowRecord[] {
    const found: FlowRecord[] = [];
    for (let at = this.#next - 1; at >= this.#oldest && found.length < limit; at--) {
      const record = this.#places[at % this.#places.length];
      if (record && isWanted(record)) found.push(record);
    }
    return found.reverse();
  }

  /** Calls back after changes. @returns ends that */
  watch(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** To be called after some changes. */
  notify(): void {
    for (const listener of this.#listeners) listener();
  }

  /** Calls back from now on. */
  onDrop(listener: DropListener): void {
    this.#dropListeners.push(listener);
  }

  #dropOldest(): void {
    while (!this.#dropPlace());
  }

  /** @returns whether the oldest place had a record */
  #dropPlace(): boolean {
    const number = this.#oldest++;
    const at = number % this.#places.length;
    const record = this.#places[at];
    if (!record) return false;
    this.#places[at] = undefined;
    this.#numbers.delete(record.flow.id);
    for (const listener of this.#dropListeners) listener(number, record);
    return true;
  }
}
