/** Wrong passwords and tokens of each address: few at once, then one a second, however many requests it sends. */
import type { Clock } from '../../clock/clock.ts';
import { RateLimiter } from '../rate-limiter.ts';

const AT_ONCE = 10;
const PER_SECOND = 1;
const DELAY_MS = 1_000;
/** With so many that wait for their reply, no other credentials of the address are looked at. */
const MAX_WAITING = 4;

export const TOO_MANY_FAILURES = 'too many failed attempts of this address: try it later\n';

interface Waiting {
  count: number;
  /** When the last of them is answered. */
  until: number;
}

export class FailedAttempts {
  readonly #limiter: RateLimiter;
  readonly #waiting = new Map<string, Waiting>();
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#limiter = new RateLimiter(PER_SECOND, AT_ONCE, clock);
    this.#clock = clock;
  }

  /** Whether credentials of the address must be refused unseen: only a right one has a fast reply. */
  isBlocked(address: string): boolean {
    return (this.#waiting.get(address)?.count ?? 0) >= MAX_WAITING;
  }

  /** Resolves when the failed attempt of the address may be answered, one after the other. */
  async delay(address: string): Promise<void> {
    const known = this.#waiting.get(address);
    if (!known && this.#limiter.take(address) === 0) return;
    const now = this.#clock.monotonic();
    const waiting = known ?? { count: 0, until: now };
    this.#waiting.set(address, waiting);
    waiting.count++;
    waiting.until = Math.max(waiting.until, now) + DELAY_MS;
    await this.#clock.sleep(waiting.until - now);
    waiting.count--;
    if (waiting.count === 0) this.#waiting.delete(address);
  }
}
