import { type Registry, Summary } from 'prom-client';
import type { Clock } from '../clock/clock.ts';

/** Observations whose quantiles are shown, for each value of the label. */
const LIMIT = 512;

export interface RecentSummaryOptions<L extends string> {
  readonly name: string;
  readonly help: string;
  readonly label: L;
  readonly percentiles: readonly number[];
  /** The quantiles are those of the observations of this time. */
  readonly maxAgeMs: number;
  readonly registers: Registry[];
  readonly clock: Clock;
}

/**
 * A summary with one label that sorts when it is read: an observation is two writes to a ring. The summary of
 * prom-client keeps five search trees for each label, and adds each observation to all of them.
 */
export class RecentSummary<L extends string> extends Summary<L> {
  readonly #options: RecentSummaryOptions<L>;
  readonly #byLabel = new Map<string, Observations>();

  constructor(options: RecentSummaryOptions<L>) {
    const { name, help, label, registers } = options;
    super({ name, help, labelNames: [label], registers });
    this.#options = options;
  }

  /** @param of value of the label */
  add(of: string, value: number): void {
    let known = this.#byLabel.get(of);
    if (!known) {
      known = new Observations();
      this.#byLabel.set(of, known);
    }
    known.add(this.#options.clock.monotonic(), value);
  }

  override async get(): ReturnType<Summary<L>['get']> {
    const { name, label, percentiles, maxAgeMs, clock } = this.#options;
    const oldest = clock.monotonic() - maxAgeMs;
    const values = [...this.#byLabel].flatMap(([of, observations]) => {
      const labels = { [label]: of } as Record<L, string>;
      const recent = observations.since(oldest);
      return [
        ...percentiles.map((quantile) => ({
          labels: { quantile, ...labels },
          value: recent[Math.ceil(quantile * recent.length) - 1] ?? 0,
        })),
        { metricName: `${name}_sum`, labels, value: observations.sum },
        { metricName: `${name}_count`, labels, value: observations.count },
      ];
    });
    return { ...(await super.get()), values };
  }
}

class Observations {
  count = 0;
  sum = 0;
  readonly #times = new Float64Array(LIMIT);
  readonly #values = new Float64Array(LIMIT);

  add(time: number, value: number): void {
    const at = this.count % LIMIT;
    this.#times[at] = time;
    this.#values[at] = value;
    this.count++;
    this.sum += value;
  }

  /** Sorted. */
  since(oldest: number): Float64Array {
    const used = Math.min(this.count, LIMIT);
    return this.#values
      .subarray(0, used)
      .filter((_, at) => (this.#times[at] as number) >= oldest)
      .sort();
  }
}
