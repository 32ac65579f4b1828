/**
 * Begins requests a few at a time. A connection may send many at once, and one that is answered without
 * waiting for anything, such as a probe, begins the next one: without a pause, all that many connections
 * have sent would be handled before the event loop continues.
 */
import type { Clock } from '../clock/clock.ts';

/** Each takes some tenths of a millisecond. */
const MOST_IN_A_TURN = 4;

export class Turns {
  readonly #clock: Clock;
  /** Requests by the address of the client; the first address is the next one. */
  readonly #queues = new Map<string, (() => void)[]>();
  #isRunning = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Resolves when a request from the address may begin. The addresses take turns. */
  next(address: string): Promise<void> {
    return new Promise((resolve) => {
      const queue = this.#queues.get(address);
      if (queue) queue.push(resolve);
      else this.#queues.set(address, [resolve]);
      if (!this.#isRunning) void this.#run();
    });
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    while (this.#queues.size > 0) {
      await this.#clock.turn();
      for (let n = 0; n < MOST_IN_A_TURN; n++) this.#begin();
    }
    this.#isRunning = false;
  }

  #begin(): void {
    const [first] = this.#queues;
    if (!first) return;
    const [address, queue] = first;
    this.#queues.delete(address);
    const resolve = queue.shift()!;
    if (queue.length > 0) this.#queues.set(address, queue);
    resolve();
  }
}
