/**
 * Limits how many requests are handled at once, so that no client of the REST server can take the
 * main thread or the memory from the rest of the agent. The addresses of the clients take turns: one
 * with many requests does not delay another one's.
 */
import type { Clock } from '../clock/clock.ts';
import { defineError } from '../errors/errors.ts';

export const HttpOverloadError = defineError({
  name: 'HttpOverloadError',
  code: 'CV_HTTP_OVERLOAD',
  remedy: 'Send fewer requests at once, and retry after a second.',
});

/** Each may hold the main thread for a slice of 5 ms in a turn of the event loop. */
const MAX_HANDLED = 4;
const MAX_WAITING = 256;
const MAX_WAITING_PER_ADDRESS = 32;
/** A client that reads its reply slowly uses little of the main thread: others may start. */
const SLOW_REPLY_MS = 10_000;

export class Admission {
  readonly #clock: Clock;
  readonly #most: number;
  #handled = 0;
  #waiting = 0;
  /** Requests by the address of the client; the first address is the next one to be admitted. */
  readonly #queues = new Map<string, (() => void)[]>();

  /** @param most requests that are handled at once */
  constructor(clock: Clock, most = MAX_HANDLED) {
    this.#clock = clock;
    this.#most = most;
  }

  /**
   * Resolves when the request may be handled.
   * @returns ends the request; to be called when the reply is sent or the connection is closed
   * @throws HttpOverloadError when too many requests wait already
   */
  async enter(address: string): Promise<() => void> {
    if (this.#handled >= this.#most) await this.#wait(address);
    else this.#handled++;
    // Everything else that is ready precedes: handlers are not called one after the other.
    await this.#clock.turn();
    let isActive = true;
    const leave = (): void => {
      slow.cancel();
      if (isActive) this.#leave();
      isActive = false;
    };
    const slow = this.#clock.timer(SLOW_REPLY_MS, leave);
    return leave;
  }

  #wait(address: string): Promise<void> {
    const queue = this.#queues.get(address) ?? [];
    if (this.#waiting >= MAX_WAITING || queue.length >= MAX_WAITING_PER_ADDRESS)
      throw new HttpOverloadError(`${queue.length} requests from ${address} wait already`);
    this.#waiting++;
    this.#queues.set(address, queue);
    return new Promise((resolve) => queue.push(resolve));
  }

  /** The place passes to the next request that waits. */
  #leave(): void {
    const [next] = this.#queues;
    if (!next) {
      this.#handled--;
      return;
    }
    const [address, queue] = next;
    this.#queues.delete(address);
    this.#waiting--;
    const admit = queue.shift()!;
    if (queue.length > 0) this.#queues.set(address, queue);
    admit();
  }
}
