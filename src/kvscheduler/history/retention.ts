/**
 * How long what is past is kept: by age, except for what the first period of the agent's life has
 * left, and within a number of bytes that wins over both. The first period gets half of the room
 * at most, its beginning first, so that it never crowds out the present.
 */
import type { Clock } from '#infra/clock/clock.ts';
import { Fifo } from '#infra/collections/fifo.ts';

export interface RetentionLimits {
  /** Milliseconds after which what is past is dropped. */
  readonly ageMs: number;
  /** Milliseconds from the beginning of which nothing is dropped for its age. */
  readonly initMs: number;
  /** Rough size in memory of all that is kept. */
  readonly bytes: number;
}

export const defaultRetention: RetentionLimits = {
  ageMs: 24 * 60 * 60_000,
  initMs: 60 * 60_000,
  bytes: 32 * 1024 * 1024,
};

interface Kept<T> {
  readonly item: T;
  /** When it was over, in milliseconds since the epoch. */
  readonly over: number;
  readonly bytes: number;
}

export class Retention<T> {
  readonly #clock: Clock;
  readonly #limits: RetentionLimits;
  readonly #began: number;
  readonly #first: Kept<T>[] = [];
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

  /** @param began when it began, @param over when it was over: milliseconds since the epoch */
  add(item: T, began: number, over: number, bytes: number): void {
    this.#bytes += bytes;
    const { initMs, bytes: room } = this.#limits;
    const ofFirst = began - this.#began <= initMs && !this.#firstIsFull;
    if (ofFirst && this.#firstBytes + bytes <= room / 2) {
      this.#first.push({ item, over, bytes });
      this.#firstBytes += bytes;
    } else {
      this.#firstIsFull ||= ofFirst;
      this.#later.push({ item, over, bytes });
    }
  }

  /** What has to go next, taken out; undefined: everything that is here may stay. */
  takeOverdue(): T | undefined {
    const { first } = this.#later;
    if (!first) return undefined;
    const isOld = first.over < this.#clock.now() - this.#limits.ageMs;
    if (!isOld && this.#bytes <= this.#limits.bytes) return undefined;
    this.#later.shift();
    this.#bytes -= first.bytes;
    return first.item;
  }

  /** Everything that is kept; in both periods the oldest first. */
  *all(): Generator<T, void, void> {
    for (const { item } of this.#first) yield item;
    for (const { item } of this.#later) yield item;
  }
}
