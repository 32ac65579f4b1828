import { Backoff } from '#infra/clock/backoff.ts';
import type { Random } from '#infra/clock/clock.ts';
import {
  ApiBusyError,
  ApiForbiddenError,
  ApiNotFoundError,
  VersionExpiredError,
} from './api-errors.ts';

const BACKOFF = { firstMs: 500, maxMs: 30_000 };
/** A permission is granted by an administrator: attempts in between only fill the log of the server. */
const FORBIDDEN_MS = 60_000;
/** A kind that is not installed costs the server little. */
const ABSENT_MS = 10_000;

/** How long a watch waits after a failure. Delays are random, so that kinds and programs do not retry at once. */
export class RetryPolicy {
  readonly #random: Random;
  readonly #backoff: Backoff;
  #hasProgressed = true;

  constructor(random: Random) {
    this.#random = random;
    this.#backoff = new Backoff(BACKOFF, random);
  }

  /** The connection works: the next failure is a new one. */
  progressed(): void {
    this.#hasProgressed = true;
    this.#backoff.reset();
  }

  /** Milliseconds until the next attempt. */
  delayAfter(error: unknown): number {
    const isFirst = this.#hasProgressed;
    this.#hasProgressed = false;
    const delay = this.#backoff.next();
    if (error instanceof VersionExpiredError && isFirst) return 0;
    if (error instanceof ApiForbiddenError) return this.#around(FORBIDDEN_MS);
    if (error instanceof ApiNotFoundError) return this.#around(ABSENT_MS);
    if (error instanceof ApiBusyError) return error.pauseMs + delay;
    return delay;
  }

  #around(ms: number): number {
    return ms * (0.75 + this.#random.next() / 2);
  }
}
