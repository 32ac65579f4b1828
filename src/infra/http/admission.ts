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
  status: 503,
  remedy: 'Send fewer requests at once, and retry after a second.',
});

/** Each may hold the main thread for a slice of 5 ms in a turn of the event loop. */
const MAX_HANDLED = 4;
const MAX_WAITING = 256;
const MAX_WAITING_PER_ADDRESS = 32;
/** A client that reads its reply slowly uses little of the main thread: others may start. */
const SLOW_REPLY_MS = 10_000;
/** But each keeps what it has not sent, and the records that it still has to read, in memory. */
const MAX_SLOW_REPLIES = 12;
/** Records that have expired must not be kept for longer. */
const MAX_REPLY_MS = 10 * 60_000;

export interface Client {
  readonly address: string;
  /**
   * Closes the connection of a client that does not read its reply.
   * @returns false: there is no reply yet
   */
  giveUp(): boolean;
}

export class Admission {
  readonly #clock: Clock;
  readonly #most: number;
  #handled = 0;
  /** Clients that are slow to read, the longest first. */
  readonly #slow = new Set<Client>();
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
   * @param slowMs how long it keeps its place
   * @returns ends the request; to be called when the reply is sent or the connection is closed
   * @throws HttpOverloadError when too many requests wait already
   */
  async enter(client: Client, slowMs = SLOW_REPLY_MS): Promise<() => void> {
    if (this.#handled >= this.#most) await this.#wait(client.address);
    else this.#handled++;
    // Everything else that is ready precedes: handlers are not called one after the other.
    await this.#clock.turn();
    let isActive = true;
    const pass = (): void => {
      if (isActive) this.#leave();
      isActive = false;
    };
    let timer = this.#clock.timer(slowMs, () => {
      timer = this.#clock.timer(MAX_REPLY_MS - slowMs, () => client.giveUp());
      pass();
      this.#addSlow(client);
    });
    return () => {
      timer.cancel();
      this.#slow.delete(client);
      pass();
    };
  }

  /** The address with the most slow clients loses the one that is the longest. */
  #addSlow(client: Client): void {
    this.#slow.add(client);
    if (this.#slow.size <= MAX_SLOW_REPLIES) return;
    const counts = new Map<string, number>();
    for (const { address } of this.#slow) counts.set(address, (counts.get(address) ?? 0) + 1);
    const countOf = ({ address }: Client): number => counts.get(address) ?? 0;
    const byCount = [...this.#slow].sort((a, b) => countOf(b) - countOf(a));
    const ended = byCount.find((one) => one.giveUp());
    if (ended) this.#slow.delete(ended);
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
