import type { Random } from '#infra/clock/clock.ts';

export interface BackoffOptions {
  /** Delay before the second attempt; it doubles with each further attempt. */
  readonly firstMs: number;
  readonly maxMs: number;
}

/** Exponential back-off; each delay is between half and all of its step, so that agents spread out. */
export class Backoff {
  readonly #options: BackoffOptions;
  readonly #random: Random;
  #attempts = 0;

  constructor(options: BackoffOptions, random: Random) {
    this.#options = options;
    this.#random = random;
  }

  /** Milliseconds to wait before the next attempt. */
  next(): number {
    const step = Math.min(this.#options.maxMs, this.#options.firstMs * 2 ** this.#attempts);
    if (step < this.#options.maxMs) this.#attempts++;
    return step * (0.5 + this.#random.next() / 2);
  }

  reset(): void {
    this.#attempts = 0;
  }
}
