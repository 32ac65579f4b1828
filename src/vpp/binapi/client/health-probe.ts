import type { Clock, Timer } from '#infra/clock/clock.ts';
import type { Logger } from '#infra/log/log.ts';
import { VppTimeoutError } from '../api.ts';
import type { HealthOptions } from './options.ts';
import { STALL_MS } from './reply-timeout.ts';

/** The part of a connection that the health probe uses. */
export interface ProbedConnection {
  /** Number of messages received so far. */
  readonly messages: number;
  /** VPP executes a CLI command within its limit, and answers nothing meanwhile. */
  readonly isRunningCommand: boolean;
  /** Sends control_ping. Rejects when the connection ends first. */
  probe(): Promise<unknown>;
  /** Resolves when all data that the socket has buffered is read. */
  drained(): Promise<void>;
  drop(error: Error): void;
}

/**
 * Probes a connection with control_ping. Any message that arrives after the probe proves that VPP is
 * alive: the reply to the ping itself may be delayed by a long queue.
 */
export class HealthProbe {
  readonly #connection: ProbedConnection;
  readonly #options: HealthOptions;
  readonly #clock: Clock;
  readonly #log: Logger;
  #timer: Timer;
  #misses = 0;
  #isStopped = false;

  constructor(connection: ProbedConnection, options: HealthOptions, clock: Clock, log: Logger) {
    this.#connection = connection;
    this.#options = options;
    this.#clock = clock;
    this.#log = log;
    this.#timer = clock.timer(options.intervalMs, () => this.#probe());
  }

  stop(): void {
    this.#isStopped = true;
    this.#timer.cancel();
  }

  #probe(): void {
    if (this.#isStopped) return;
    const { messages } = this.#connection;
    const sent = this.#clock.monotonic();
    // ignore the rejection: it means that the connection has ended
    this.#connection.probe().catch(() => undefined);
    this.#timer = this.#clock.timer(this.#options.timeoutMs, () => {
      const isLate = this.#clock.monotonic() - sent > this.#options.timeoutMs + STALL_MS;
      void this.#evaluate(messages, isLate);
    });
  }

  async #evaluate(messages: number, isLate: boolean): Promise<void> {
    await this.#connection.drained();
    if (this.#isStopped) return;
    const isAlive = this.#connection.messages !== messages;
    if (isAlive) this.#misses = 0;
    else if (!isLate && !this.#connection.isRunningCommand) this.#miss();
    const { intervalMs, timeoutMs } = this.#options;
    if (!this.#isStopped)
      this.#timer = this.#clock.timer(Math.max(0, intervalMs - timeoutMs), () => this.#probe());
  }

  #miss(): void {
    const { timeoutMs, maxMisses } = this.#options;
    this.#misses++;
    this.#log.warn({ misses: this.#misses, timeoutMs }, 'VPP did not answer a health probe');
    if (this.#misses < maxMisses) return;
    this.stop();
    const text = `VPP did not answer ${maxMisses} health probes in a row`;
    this.#connection.drop(new VppTimeoutError(text));
  }
}
