import type { Clock } from '#infra/clock/clock.ts';

export interface AllowanceLimits {
  /** After a long pause. */
  readonly most: number;
  /** Time in which another one is added. */
  readonly msEach: number;
}

/** How often something may be done: some times at once, then once in a while. */
export class Allowance {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #limits: AllowanceLimits;
  #left: number;
  #at: number;

  constructor(clock: Pick<Clock, 'monotonic'>, limits: AllowanceLimits) {
    this.#clock = clock;
    this.#limits = limits;
    this.#left = limits.most;
    this.#at = clock.monotonic();
  }

  get isEmpty(): boolean {
    this.#refill();
    return this.#left < 1;
  }

  /** @returns whether it may be done now */
  take(): boolean {
    if (this.isEmpty) return false;
    this.#left--;
    return true;
  }

  #refill(): void {
    const { most, msEach } = this.#limits;
    const now = this.#clock.monotonic();
    this.#left = Math.min(most, this.#left + (now - this.#at) / msEach);
    this.#at = now;
  }
}
