import type { Clock } from './clock.ts';

/** The main thread must never be held longer than 20 ms; this leaves room for a slow unit. */
const SLICE_MS = 8;

/**
 * Cuts long work on the main thread into slices: ask `due` after each small unit of work, and wait
 * for `turn` when it says so.
 */
export class Slices {
  readonly #clock: Clock;
  #began: number;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#began = clock.monotonic();
  }

  due(): boolean {
    return this.#clock.monotonic() - this.#began >= SLICE_MS;
  }

  /** Gives way to pending input and output; a new slice begins. */
  async turn(): Promise<void> {
    await this.#clock.turn();
    this.#began = this.#clock.monotonic();
  }
}
