import { Backoff } from '#infra/clock/backoff.ts';
import type { Clock, Random, Timer } from '#infra/clock/clock.ts';

const FIRST_MS = 1_000;
const MAX_MS = 30_000;
/** Without an attempt for this time, the back-off starts again with its first delay. */
const RESET_AFTER_MS = 60_000;

/** Delays retries with exponential back-off: from one second up to half a minute. */
export class RetryTimer {
  readonly #clock: Clock;
  readonly #backoff: Backoff;
  #lastAttempt = Number.NEGATIVE_INFINITY;
  #timer: Timer | undefined;

  constructor(clock: Clock, random: Random) {
    this.#clock = clock;
    this.#backoff = new Backoff({ firstMs: FIRST_MS, maxMs: MAX_MS }, random);
  }

  /** A retry is delayed at the moment. */
  get waiting(): boolean {
    return this.#timer !== undefined;
  }

  /**
   * Delays the next attempt.
   * @param firstMs delay of the first attempt after a reset; default: that of the back-off
   * @param done called when the delay is over; not called without a delay
   */
  start(firstMs: number | undefined, done: () => void): void {
    this.cancel();
    const now = this.#clock.monotonic();
    const isReset = now - this.#lastAttempt > RESET_AFTER_MS;
    this.#lastAttempt = now;
    if (isReset) this.#backoff.reset();
    const isFirst = isReset && firstMs !== undefined;
    if (isFirst && firstMs === 0) return;
    this.#timer = this.#clock.timer(isFirst ? firstMs : this.#backoff.next(), () => {
      this.#timer = undefined;
      done();
    });
  }

  cancel(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
  }
}
