import type { Clock, Timer } from '#infra/clock/clock.ts';
import type { PendingRequest } from './pending-requests.ts';

/** A timer that fires this much too late means that this process was stalled. */
export const STALL_MS = 100;

export interface ReplyTimeoutOptions {
  readonly clock: Clock;
  readonly timeoutMs: number;
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
    this.#timer ??= this.#arm(this.#options.timeoutMs);
  }

  stop(): void {
    this.#isStopped = true;
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  #arm(ms: number): Timer {
    const due = this.#options.clock.monotonic() + ms;
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
    const left = this.#since + this.#options.timeoutMs - this.#options.clock.monotonic();
    // at least one millisecond: the clock may not resolve less, and the timer would loop
    if (left > 0) this.#timer = this.#arm(Math.max(1, left));
    else this.#options.onExceeded(this.#head);
  }
}
