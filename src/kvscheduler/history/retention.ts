/**
 * Limits how long items are kept. Items expire by age, except for those of the first period after the
 * start. A limit in bytes has precedence over both. The first period takes half of the bytes at most,
 * its oldest items first, so that it cannot displace recent items.
 */
import type { Clock } from '#infra/clock/clock.ts';
import { Fifo } from '#infra/collections/fifo.ts';

export interface RetentionLimits {
  /** Milliseconds after which an item expires. */
  readonly ageMs: number;
  /** Milliseconds after the start whose items do not expire by age. */
  readonly initMs: number;
  /** Rough size in memory of all items. */
  readonly bytes: number;
}

export const defaultRetention: RetentionLimits = {
  ageMs: 24 * 60 * 60_000,
  initMs: 60 * 60_000,
  bytes: 32 * 1024 * 1024,
};

export interface Kept<T> {
  readonly item: T;
  /** Its end, in milliseconds since the epoch. */
  readonly over: number;
  readonly bytes: number;
}

type Writable<T> = { -readonly [K in keyof T]: T[K] };

export class Retention<T> {
  readonly #clock: Clock;
  readonly #limits: RetentionLimits;
  readonly #began: number;
  readonly #first: Kept<T>[] = [];
  readonly #ofFirst = new WeakSet<Kept<T>>();
  readonly #later = new Fifo<Kept<T>>();
  #firstBytes = 0;
  #firstIsFull = false;
  #bytes = 0;

  constructor(clock: Clock, limits: RetentionLimits) {
    this.#clock = clock;
    this.#limits = limits;
    this.#began = clock.now();
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** The items take more than the limit: the oldest one is expired. */
  get isFull(): boolean {
    return this.#bytes > this.#limits.bytes;
  }

  /** @param began its beginning, @param over its end: milliseconds since the epoch */
  add(item: T, began: number, over: number, bytes: number): Kept<T> {
    this.#bytes += bytes;
    const kept: Kept<T> = { item, over, bytes };
    const { initMs, bytes: limit } = this.#limits;
    const ofFirst = began - this.#began <= initMs && !this.#firstIsFull;
    if (ofFirst && this.#firstBytes + bytes <= limit / 2) {
      this.#first.push(kept);
      this.#ofFirst.add(kept);
      this.#firstBytes += bytes;
    } else {
      this.#firstIsFull ||= ofFirst;
      this.#later.push(kept);
    }
    return kept;
  }

  /** An item that has not expired was changed. */
  resize(kept: Kept<T>, bytes: number): void {
    const more = bytes - kept.bytes;
    this.#bytes += more;
    if (this.#ofFirst.has(kept)) this.#firstBytes += more;
    (kept as Writable<Kept<T>>).bytes = bytes;
  }

  /** Removes and returns the next expired item; undefined: none is expired. */
  takeExpired(): T | undefined {
    const { first } = this.#later;
    if (!first) return undefined;
    const isOld = first.over < this.#clock.now() - this.#limits.ageMs;
    if (!isOld && !this.isFull) return undefined;
    this.#later.shift();
    this.#bytes -= first.bytes;
    return first.item;
  }

  /** All items: those of the first period, then the others; the oldest first. */
  *all(): Generator<T, void, void> {
    for (const { item } of this.#first) yield item;
    for (const { item } of this.#later) yield item;
  }
}
