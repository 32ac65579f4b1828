import type { Clock } from '#infra/clock/clock.ts';
import type { Load } from './scheduler.ts';

/** The largest resyncs take less. */
const LIMIT_MS = 60_000;

/** Why the queue of the scheduler makes no progress. Asked again and again, it notices that nothing ends. */
export class QueueProblem {
  readonly #scheduler: { readonly load: Load };
  readonly #clock: Clock;
  #processed = 0;
  /** Since when transactions wait, and none has ended. */
  #since: number;

  constructor(scheduler: { readonly load: Load }, clock: Clock) {
    this.#scheduler = scheduler;
    this.#clock = clock;
    this.#since = clock.monotonic();
  }

  /** undefined: none. The text does not change as long as the problem lasts. */
  text(): string | undefined {
    const { queueLength, queueCapacity, inFlight, processed } = this.#scheduler.load;
    const now = this.#clock.monotonic();
    const isIdle = queueLength === 0 && inFlight === 0;
    if (isIdle || processed !== this.#processed) {
      this.#processed = processed;
      this.#since = now;
    }
    if (queueLength >= queueCapacity)
      return `the queue is full: ${queueCapacity} transactions wait`;
    if (now - this.#since > LIMIT_MS)
      return `no transaction has ended for more than ${LIMIT_MS / 1000} s, although some wait`;
    return undefined;
  }
}
