import type { Clock, Random, Timer } from '#infra/clock/clock.ts';

const FIRST_MS = 1_000;
const LONGEST_MS = 30_000;
/** After so long without a further attempt the trouble counts as over. */
const CALM_MS = 60_000;

/**
 * Spaces out what is tried again: one second, two, four … up to half a minute, less up to a half by
 * chance, so that the agents of a cluster do not all come at once.
 */
export class Backoff {
  readonly #clock: Clock;
  readonly #random: Random;
  #attempts = 0;
  #last = Number.NEGATIVE_INFINITY;
  #timer: Timer | undefined;

  constructor(clock: Clock, random: Random) {
    this.#clock = clock;
    this.#random = random;
  }

  get waiting(): boolean {
    return this.#timer !== undefined;
  }

  /**
   * Waits before the next attempt.
   * @param eager the first attempt after a calm time is not delayed
   */
  start(eager: boolean, done: () => void): void {
    this.cancel();
    const now = this.#clock.monotonic();
    if (now - this.#last > CALM_MS) this.#attempts = eager ? 0 : 1;
    else this.#attempts++;
    this.#last = now;
    if (this.#attempts === 0) return;
    const full = Math.min(LONGEST_MS, FIRST_MS * 2 ** (this.#attempts - 1));
    this.#timer = this.#clock.timer(full * (1 - this.#random.next() / 2), () => {
      this.#timer = undefined;
      done();
    });
  }

  cancel(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
  }
}
