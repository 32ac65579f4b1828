import type { Clock, Timer } from '#infra/clock/clock.ts';
import type { Logger } from '#infra/log/log.ts';
import { ErrVppTimeout } from '../api.ts';
import type { Connection } from './connection.ts';
import { stallMs } from './limit.ts';

export interface HealthOptions {
  readonly intervalMs: number;
  /** How long VPP may be silent after a probe. */
  readonly limitMs: number;
  /** Misses in a row that drop the connection. */
  readonly misses: number;
}

/**
 * Probes a connection with control_ping. Any message that comes after the probe is a sign of life:
 * behind a long queue the ping itself may have to wait.
 */
export class Health {
  readonly #connection: Connection;
  readonly #options: HealthOptions;
  readonly #clock: Clock;
  readonly #log: Logger;
  #timer: Timer;
  #misses = 0;
  #isStopped = false;

  constructor(connection: Connection, options: HealthOptions, clock: Clock, log: Logger) {
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
    // a rejection is no news: it comes when the connection has ended
    this.#connection.probe().catch(() => undefined);
    this.#timer = this.#clock.timer(this.#options.limitMs, () => {
      const isLate = this.#clock.monotonic() - sent > this.#options.limitMs + stallMs;
      void this.#judge(messages, isLate);
    });
  }

  async #judge(messages: number, isLate: boolean): Promise<void> {
    await this.#connection.drained();
    if (this.#isStopped) return;
    const isAlive = this.#connection.messages !== messages;
    if (isAlive) this.#misses = 0;
    else if (!isLate) this.#miss();
    const { intervalMs, limitMs } = this.#options;
    if (!this.#isStopped)
      this.#timer = this.#clock.timer(Math.max(0, intervalMs - limitMs), () => this.#probe());
  }

  #miss(): void {
    const { limitMs, misses } = this.#options;
    this.#misses++;
    this.#log.warn({ misses: this.#misses, limitMs }, 'VPP did not answer a health probe');
    if (this.#misses < misses) return;
    this.stop();
    const text = `VPP did not answer ${misses} health probes in a row`;
    this.#connection.drop(new ErrVppTimeout(text));
  }
}
