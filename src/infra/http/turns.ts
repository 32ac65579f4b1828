/**
 * Begins requests a few at a time. A connection may send many at once, and one that is answered without
 * waiting for anything, such as a probe, begins the next one: without a pause, all that many connections
 * have sent would be handled before the event loop continues.
 */
import type { Socket } from 'node:net';
import type { Clock } from '../clock/clock.ts';

/** Each takes some tenths of a millisecond. */
const MOST_IN_A_TURN = 4;

interface Waiting {
  readonly socket: Pick<Socket, 'destroyed'>;
  readonly resolve: () => void;
}

export class Turns {
  readonly #clock: Clock;
  /** Requests by the address of the client; the first address is the next one. */
  readonly #queues = new Map<string, Waiting[]>();
  #isRunning = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * Resolves when a request from the address may begin, or its connection is closed. The addresses take
   * turns.
   */
  next(address: string, socket: Waiting['socket']): Promise<void> {
    return new Promise((resolve) => {
      const queue = this.#queues.get(address);
      if (queue) queue.push({ socket, resolve });
      else this.#queues.set(address, [{ socket, resolve }]);
      if (!this.#isRunning) void this.#run();
    });
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    while (this.#queues.size > 0) {
      await this.#clock.turn();
      for (let n = 0; n < MOST_IN_A_TURN && this.#queues.size > 0; ) if (this.#begin()) n++;
    }
    this.#isRunning = false;
  }

  /** @returns false: the connection is closed, which takes no part of the turn */
  #begin(): boolean {
    const [address, queue] = this.#queues.entries().next().value!;
    this.#queues.delete(address);
    const { socket, resolve } = queue.shift()!;
    if (queue.length > 0) this.#queues.set(address, queue);
    resolve();
    return !socket.destroyed;
  }
}
