import type { Clock } from '#infra/clock/clock.ts';

/** Documents share what was collected for one of them in this time. */
const FRESH_MS = 1_000;

/** Collections that never run at the same time, and that many documents share. */
export class SharedCollection {
  readonly #clock: Clock;
  readonly #collect: () => Promise<void>;
  #running: Promise<void> | undefined;
  #startedAt = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock, collect: () => Promise<void>) {
    this.#clock = clock;
    this.#collect = collect;
  }

  /** Collects, unless a collection is running. */
  now(): Promise<void> {
    if (this.#running) return this.#running;
    this.#startedAt = this.#clock.monotonic();
    this.#running = this.#collect().finally(() => {
      this.#running = undefined;
    });
    return this.#running;
  }

  /** Collects, unless the last collection has just begun. */
  recent(): Promise<void> {
    const isFresh = this.#clock.monotonic() - this.#startedAt < FRESH_MS;
    return isFresh ? (this.#running ?? Promise.resolve()) : this.now();
  }
}
