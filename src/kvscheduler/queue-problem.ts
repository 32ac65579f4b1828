import type { Clock } from '#infra/clock/clock.ts';
import type { Load } from './scheduler.ts';

/** The largest resyncs take less. */
const LIMIT_MS = 60_000;

/** Why the queue of the scheduler makes no progress. Asked again and again, it notices that nothing ends. */
export class QueueProblem {
  readonly #scheduler: { readonly load: Load };
  readonly #clock: Clock;
  #ended = 0;
  /** Since when something runs or waits, and nothing has ended. */
  #since: number;

  constructor(scheduler: { readonly load: Load }, clock: Clock) {
    this.#scheduler = scheduler;
    this.#clock = clock;
    this.#since = clock.monotonic();
  }

  /** undefined: none. The text does not change as long as the problem lasts. */
  text(): string | undefined {
    const { queueLength, queueCapacity, isIdle, ended } = this.#scheduler.load;
    const now = this.#clock.monotonic();
    if (isIdle || ended !== this.#ended) {
      this.#ended = ended;
      this.#since = now;
    }
    if (queueLength >= queueCapacity)
      return `the queue is full: ${queueCapacity} transactions wait`;
    if (now - this.#since > LIMIT_MS)
      return `no transaction has ended for more than ${LIMIT_MS / 1000} s, although one runs or waits`;
    return undefined;
  }
}
