/** A healing resync that has failed is repeated after at most this time. */
const LIMIT_MS = 120_000;

/** Delays of healing resyncs: each one that fails doubles the delay of the next. */
export class HealingDelay {
  readonly #firstMs: number;
  #failures = 0;

  constructor(firstMs: number) {
    this.#firstMs = firstMs;
  }

  /** After a failed event that is not a healing resync itself. */
  get first(): number {
    return this.#firstMs;
  }

  /** After a failed healing resync, or one that has left a problem. */
  next(): number {
    const delay = Math.max(this.#firstMs, 1) * 2 ** Math.min(++this.#failures, 20);
    return Math.max(this.#firstMs, Math.min(delay, LIMIT_MS));
  }

  reset(): void {
    this.#failures = 0;
  }
}
