import type { Clock } from '../clock/clock.ts';
import type { Logger } from './log.ts';

/** Measured times, with the field names of the Go agent. Durations are in nanoseconds. */
export interface Trace {
  readonly traced_entries: readonly {
    /** From 1, in the order of the measurements; `clear` does not reset it. */
    readonly index: number;
    readonly msg_name: string;
    /** Unix time in nanoseconds; a number of JavaScript is exact to a quarter of a microsecond here. */
    readonly start_time: number;
    readonly duration: number;
  }[];
  /** One for each name. */
  readonly entry_stats: readonly { readonly msg_name: string; readonly average_duration: number }[];
  /** Sum of all durations. */
  readonly overall_duration: number;
}

/** Measures periods, and keeps and logs them. It keeps all of them until they are cleared. */
export class Tracer {
  readonly #name: string;
  readonly #log: Logger;
  readonly #clock: Clock;
  #nextIndex = 1;
  #entries: Trace['traced_entries'][number][] = [];

  constructor(name: string, log: Logger, clock: Clock) {
    this.#name = name;
    this.#log = log;
    this.#clock = clock;
  }

  /**
   * Ends a measurement.
   * @param entity name of what was measured; it may be measured repeatedly
   * @param start `clock.monotonic()` at its start, so that a step of the wall clock does not matter
   */
  logTime(entity: string, start: number): void {
    const ms = this.#clock.monotonic() - start;
    this.#entries.push({
      index: this.#nextIndex++,
      msg_name: entity,
      start_time: Math.round((this.#clock.now() - ms) * 1e6),
      duration: Math.round(ms * 1e6),
    });
    this.#log.debug({ tracer: this.#name, entity, ms }, 'time was measured');
  }

  get(): Trace {
    const byName = new Map<string, { sum: number; count: number }>();
    let overall = 0;
    for (const { msg_name, duration } of this.#entries) {
      const { sum, count } = byName.get(msg_name) ?? { sum: 0, count: 0 };
      byName.set(msg_name, { sum: sum + duration, count: count + 1 });
      overall += duration;
    }
    return {
      traced_entries: [...this.#entries],
      entry_stats: [...byName].map(([msg_name, { sum, count }]) => ({
        msg_name,
        average_duration: Math.round(sum / count),
      })),
      overall_duration: overall,
    };
  }

  clear(): void {
    this.#entries = [];
  }
}
