import type { BackoffOptions } from '#infra/clock/backoff.ts';
import type { Clock, Random } from '#infra/clock/clock.ts';
import type { Logger } from '#infra/log/log.ts';
import type { CallObserver, Connect } from '../api.ts';

export interface HealthOptions {
  readonly intervalMs: number;
  /** How long VPP may send nothing after a probe. */
  readonly timeoutMs: number;
  /** Consecutive misses that drop the connection. */
  readonly maxMisses: number;
}

/** Dependencies, limits and timeouts of the client. */
export interface ClientOptions {
  readonly connect: Connect;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  /** Name under which VPP lists this client; at most 63 bytes. */
  readonly name: string;
  /**
   * Maximum number of requests in flight; further requests wait in the queue. 100 to 200 keep VPP
   * busy; fewer disturb traffic less, because most messages stop VPP's workers while they run.
   */
  readonly maxInFlight: number;
  /** How long the oldest request may be unanswered before the connection is dropped. */
  readonly replyTimeoutMs: number;
  /** How long a CLI command may last before its request alone is rejected. */
  readonly commandTimeoutMs: number;
  readonly handshakeTimeoutMs: number;
  readonly health: HealthOptions;
  readonly reconnect: BackoffOptions;
  readonly observer?: CallObserver;
}

/** Options as callers give them: those without a default are mandatory. */
export type BinapiClientOptions = Pick<ClientOptions, 'connect' | 'clock' | 'random' | 'log'> &
  Partial<ClientOptions>;

export const defaultOptions = {
  name: 'contiv-agent',
  maxInFlight: 128,
  replyTimeoutMs: 10_000,
  commandTimeoutMs: 10_000,
  handshakeTimeoutMs: 3000,
  health: { intervalMs: 3000, timeoutMs: 500, maxMisses: 3 },
  reconnect: { firstMs: 50, maxMs: 2000 },
} as const;
