import type { Clock, Random } from '#infra/clock/clock.ts';
import type { Logger } from '#infra/log/log.ts';
import type { Connect } from '../api.ts';
import type { BackoffOptions } from './backoff.ts';

export interface HealthOptions {
  readonly intervalMs: number;
  /** How long VPP may be silent after a probe. */
  readonly timeoutMs: number;
  /** Misses in a row that drop the connection. */
  readonly maxMisses: number;
}

/** What the client needs, and how it paces itself. */
export interface ClientOptions {
  readonly connect: Connect;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  /** How VPP lists this client; at most 63 bytes. */
  readonly name: string;
  /**
   * Requests in flight at most; more wait in the queue. 100 to 200 keep VPP busy; fewer spare the
   * traffic, because most messages stop VPP's workers while they run.
   */
  readonly maxInFlight: number;
  /** How long the oldest request may go unanswered before the connection is given up. */
  readonly replyTimeoutMs: number;
  readonly handshakeTimeoutMs: number;
  readonly health: HealthOptions;
  readonly reconnect: BackoffOptions;
}

/** Those that have no default. */
export type BinapiClientOptions = Pick<ClientOptions, 'connect' | 'clock' | 'random' | 'log'> &
  Partial<ClientOptions>;

export const defaultOptions = {
  name: 'contiv-agent',
  maxInFlight: 128,
  replyTimeoutMs: 10_000,
  handshakeTimeoutMs: 3000,
  health: { intervalMs: 3000, timeoutMs: 500, maxMisses: 3 },
  reconnect: { firstMs: 50, maxMs: 2000 },
} as const;
