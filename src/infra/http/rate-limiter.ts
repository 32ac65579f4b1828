import type { Clock } from '../clock/clock.ts';

/** With so many keys, those that have not happened lately are dropped. */
const MAX_KEYS = 1_024;
/** Milliseconds: sums of intervals are not exact, and the last of a burst must not wait for the difference. */
const ROUNDING_MS = 1e-3;

/** Limits how often something happens for each key: `burst` times at once, then `limit` a second. */
export class RateLimiter {
  readonly limit: number;
  readonly burst: number;
  readonly #intervalMs: number;
  readonly #clock: Clock;
  /** When the key would be as new again: each time it happens moves this by an interval. */
  readonly #times = new Map<string, number>();
  #nextDrop = MAX_KEYS;

  constructor(limit: number, burst: number, clock: Clock) {
    this.limit = limit;
    this.burst = burst;
    this.#intervalMs = 1_000 / limit;
    this.#clock = clock;
  }

  /** @returns milliseconds until it may happen again; 0: it may happen now, and is counted */
  take(key: string): number {
    const now = this.#clock.monotonic();
    const time = Math.max(now, this.#times.get(key) ?? now);
    const waitMs = time - now - (this.burst - 1) * this.#intervalMs;
    if (waitMs > ROUNDING_MS) return Math.ceil(waitMs);
    this.#times.set(key, time + this.#intervalMs);
    if (this.#times.size >= this.#nextDrop) this.#dropUnused(now);
    return 0;
  }

  #dropUnused(now: number): void {
    for (const [key, time] of this.#times) if (time <= now) this.#times.delete(key);
    // A walk over all keys must not follow each of many new ones.
    this.#nextDrop = Math.max(MAX_KEYS, 2 * this.#times.size);
  }
}
