import type { Clock, Timer } from '#infra/clock/clock.ts';
import type { PendingRequest } from './pending-requests.ts';

/** A timer that fires this much too late shows that our own process stood still. */
export const STALL_MS = 100;

export interface ReplyTimeoutOptions {
  readonly clock: Clock;
  readonly timeoutMs: number;
  /** Resolves when all that had arrived has been read. */
  readonly drained: () => Promise<void>;
  /** The request that is to be answered next. */
  readonly head: () => PendingRequest | undefined;
  readonly onExceeded: (head: PendingRequest) => void;
}

/**
 * Judges how long the oldest request may wait. VPP works off one client's messages in order, so the
 * limit of a request begins when the one before it was answered, or when it was sent: a long queue
 * is no reason to give VPP up. Judged only after what has arrived was read, and a stall of this
 * process begins the limit anew: the request may not even have left.
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

  /** Something was sent. */
  sent(): void {
    if (this.#head === undefined) this.arrived();
  }

  /** Something has arrived: the limit begins anew if it was an answer to what we wait for. */
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
    // a whole millisecond at least: of less the clock might not see the difference, for ever
    if (left > 0) this.#timer = this.#arm(Math.max(1, left));
    else this.#options.onExceeded(this.#head);
  }
}
