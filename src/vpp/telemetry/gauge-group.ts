/** The gauges of one group of VPP's figures: each has a value for each row, for example for each interface. */
import { Gauge, type Registry } from 'prom-client';
import type { Slices } from '#infra/clock/slices.ts';
import type { MetricGroup } from './config.ts';

/** By the suffix of the name. */
export type Figures<Row> = Readonly<
  Record<string, { readonly help: string; readonly of: (row: Row) => number }>
>;

type Labels = Readonly<Record<string, string | number>>;

export class GaugeGroup<Row> {
  readonly #gauges: readonly { readonly gauge: Gauge; readonly of: (row: Row) => number }[];

  constructor(
    group: MetricGroup,
    labels: readonly string[],
    figures: Figures<Row>,
    registry: Registry,
  ) {
    const labelNames = ['agent', ...labels];
    this.#gauges = Object.entries(figures).map(([suffix, { help, of }]) => ({
      gauge: new Gauge({
        name: `vpp_${group}_${suffix}`,
        help,
        labelNames,
        registers: [registry],
      }),
      of,
    }));
  }

  /**
   * One gauge after the other: a node has an interface for each other node, and all of their values at once
   * would block the main thread. A scrape meanwhile finds each gauge whole, some with values of the last poll.
   */
  async set(rows: readonly Row[], labelsOf: (row: Row) => Labels, slices: Slices): Promise<void> {
    const labelled = rows.map((row) => [row, labelsOf(row)] as const);
    for (const { gauge, of } of this.#gauges) {
      if (slices.dueNow()) await slices.turn();
      gauge.reset();
      for (const [row, labels] of labelled) gauge.set(labels, of(row));
    }
  }

  clear(): void {
    for (const { gauge } of this.#gauges) gauge.reset();
  }
}
