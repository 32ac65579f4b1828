import type { Clock, Timer } from '#infra/clock/clock.ts';
import type { PendingRequest } from './pending-requests.ts';

/** A timer that fires this much too late means that this process was stalled. */
export const STALL_MS = 100;

export interface ReplyTimeoutOptions {
  readonly clock: Clock;
  /** Infinity: the request may wait. */
  readonly limitOf: (head: PendingRequest) => number;
  /** Resolves when all data that has arrived is read. */
  readonly drained: () => Promise<void>;
  /** The request that VPP answers next. */
  readonly head: () => PendingRequest | undefined;
  readonly onExceeded: (head: PendingRequest) => void;
}

/**
 * Limits how long the oldest request may wait. VPP processes one client's messages in order, so the
 * timeout of a request starts when the previous one is answered, or when it is sent: a long queue
 * does not cause a timeout. The timeout is evaluated after all arrived data is read. A stall of this
 * process restarts it, because the request may not have been sent yet.
 */
export class ReplyTimeout {
  readonly #options: ReplyTimeoutOptions;
  #timer: Timer | undefined;
  #head: PendingRequest | undefined;
  /** When the timer fires. */
  #due = 0;
  #received = 0;
  #since = 0;
  #isStopped = false;

  constructor(options: ReplyTimeoutOptions) {
    this.#options = options;
  }

  /** Call after sending a request. */
  sent(): void {
    if (this.#head === undefined) this.arrived();
  }

  /** Call after receiving data: restarts the timeout if the oldest request made progress. */
  arrived(): void {
    const head = this.#options.head();
    if (head === this.#head && head?.receivedMessages === this.#received) return;
    this.#head = head;
    if (head === undefined) return;
    this.#received = head.receivedMessages;
    this.#since = this.#options.clock.monotonic();
    const limit = this.#options.limitOf(head);
    // A running timer checks in time, unless it was started for a request that may last longer.
    if (this.#timer && this.#due <= this.#since + limit) return;
    this.#timer?.cancel();
    this.#timer = this.#arm(limit);
  }

  stop(): void {
    this.#isStopped = true;
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  #arm(ms: number): Timer | undefined {
    if (ms === Number.POSITIVE_INFINITY) return undefined;
    const due = this.#options.clock.monotonic() + ms;
    this.#due = due;
    return this.#options.clock.timer(ms, () => {
      const isLate = this.#options.clock.monotonic() - due > STALL_MS;
      void this.#check(isLate);
    });
  }

  async #check(isLate: boolean): Promise<void> {
    await this.#options.drained();
    this.#timer = undefined;
    if (this.#isStopped || this.#head === undefined) return;
    if (isLate) this.#since = this.#options.clock.monotonic();
    const left = this.#since + this.#options.limitOf(this.#head) - this.#options.clock.monotonic();
    // at least one millisecond: the clock may not resolve less, and the timer would loop
    if (left > 0) this.#timer = this.#arm(Math.max(1, left));
    else this.#options.onExceeded(this.#head);
  }
}
