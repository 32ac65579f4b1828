/** Reads VPP's telemetry at intervals. */
import type { Clock, Timer } from '#infra/clock/clock.ts';
import { errorText } from '#infra/errors/errors.ts';
import type { Logger } from '#infra/log/log.ts';
import type { Component } from '#infra/process/lifecycle.ts';
import type { TelemetryMetrics } from './metrics.ts';

export interface TelemetryPollDeps {
  readonly metrics: Pick<TelemetryMetrics, 'read' | 'clear'>;
  /** Calls back at each new connection to VPP and at each loss of it. */
  readonly onConnection: (listener: (isConnected: boolean) => void) => void;
  readonly intervalMs: number;
  readonly clock: Clock;
  readonly log: Logger;
}

export class TelemetryPoll implements Component {
  readonly name = 'telemetry';
  readonly #deps: TelemetryPollDeps;
  #timer: Timer | undefined;
  #isClosed = false;
  #isConnected = false;
  #reading: Promise<void> | undefined;
  #lastError = '';

  constructor(deps: TelemetryPollDeps) {
    this.#deps = deps;
  }

  init(): void {
    this.#deps.onConnection((isConnected) => {
      this.#isConnected = isConnected;
      if (isConnected) this.#poll();
      else this.#deps.metrics.clear();
    });
    this.#schedule();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#timer?.cancel();
    await this.#reading;
  }

  #schedule(): void {
    this.#timer = this.#deps.clock.timer(this.#deps.intervalMs, () => {
      this.#poll();
      this.#schedule();
    });
  }

  /** A poll that lasts longer than the interval is not overtaken by the next one. */
  #poll(): void {
    if (this.#isClosed || !this.#isConnected || this.#reading) return;
    this.#reading = this.#read().finally(() => {
      this.#reading = undefined;
    });
  }

  async #read(): Promise<void> {
    const { metrics, log } = this.#deps;
    try {
      await metrics.read();
      this.#lastError = '';
      // the connection was lost meanwhile
      if (!this.#isConnected) metrics.clear();
    } catch (error) {
      // Log a repeated error once, not at each poll.
      const text = errorText(error);
      if (text !== this.#lastError) log.warn({ err: error }, 'cannot read the telemetry of VPP');
      this.#lastError = text;
    }
  }
}
