import type { Random } from './clock.ts';

export interface BackoffOptions {
  /** Delay before the first retry; doubled with each further retry. */
  readonly firstMs: number;
  /** Upper limit of a delay. */
  readonly maxMs: number;
}

/**
 * Exponential back-off: each delay is between 50 % and 100 % of its step, at random, so that the
 * agents of a cluster do not retry at the same time.
 */
export class Backoff {
  readonly #options: BackoffOptions;
  readonly #random: Random;
  #attempts = 0;

  constructor(options: BackoffOptions, random: Random) {
    this.#options = options;
    this.#random = random;
  }

  /** Delay before the next attempt, in milliseconds. */
  next(): number {
    const step = Math.min(this.#options.maxMs, this.#options.firstMs * 2 ** this.#attempts);
    if (step < this.#options.maxMs) this.#attempts++;
    return step * (0.5 + this.#random.next() / 2);
  }

  /** The next delay is the first one again. */
  reset(): void {
    this.#attempts = 0;
  }
}
