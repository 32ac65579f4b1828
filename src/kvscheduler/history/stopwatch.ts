import type { Clock } from '#infra/clock/clock.ts';
import type { Observer, Phase } from './observer.ts';
import type { RecordedTxnOp, TxnType } from './record.ts';

/** Times the phases of one transaction. */
export class Stopwatch {
  readonly #clock: Clock;
  readonly #observer: Observer;
  readonly #start: number;
  #last: number;

  constructor(clock: Clock, observer: Observer) {
    this.#clock = clock;
    this.#observer = observer;
    this.#start = clock.monotonic();
    this.#last = this.#start;
  }

  /** A phase ended. @returns its milliseconds */
  lap(phase: Phase): number {
    const now = this.#clock.monotonic();
    const ms = now - this.#last;
    this.#last = now;
    this.#observer.took(phase, ms);
    return ms;
  }

  /** The transaction ended. */
  stop(type: TxnType, executed: readonly RecordedTxnOp[]): void {
    const ms = this.#clock.monotonic() - this.#start;
    this.#observer.took('processTransaction', ms);
    this.#observer.processed(type, ms, executed);
  }
}
