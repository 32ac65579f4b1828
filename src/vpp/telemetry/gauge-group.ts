/** The gauges of one group of VPP's figures: each has a value for each row, for example for each interface. */
import { Gauge, type MetricObjectWithValues, type MetricValue, type Registry } from 'prom-client';
import type { MetricGroup } from './config.ts';

/** By the suffix of the name. */
export type Figures<Row> = Readonly<
  Record<string, { readonly help: string; readonly of: (row: Row) => number }>
>;

type Labels = Readonly<Record<string, string | number>>;
type Values = MetricObjectWithValues<MetricValue<string>>;

export class GaugeGroup<Row> {
  /** Of the last poll. */
  #rows: readonly (readonly [row: Row, labels: Labels])[] = [];

  constructor(
    group: MetricGroup,
    labels: readonly string[],
    figures: Figures<Row>,
    registry: Registry,
  ) {
    const labelNames = ['agent', ...labels];
    for (const [suffix, { help, of }] of Object.entries(figures)) {
      const config = { name: `vpp_${group}_${suffix}`, help, labelNames, registers: [registry] };
      new ReadGauge(config, () =>
        this.#rows.map(([row, own]) => ({ labels: own, value: of(row) })),
      );
    }
  }

  set(rows: readonly Row[], labelsOf: (row: Row) => Labels): void {
    this.#rows = rows.map((row) => [row, labelsOf(row)]);
  }

  clear(): void {
    this.#rows = [];
  }
}

/**
 * A gauge whose values are made by a scrape. A node has an interface for each other node: to set each value of each gauge
 * at each poll would block the main thread, and keep all of them.
 */
class ReadGauge extends Gauge {
  readonly #values: () => Values['values'];

  constructor(config: ConstructorParameters<typeof Gauge>[0], values: () => Values['values']) {
    super(config);
    this.#values = values;
  }

  override async get(): Promise<Values> {
    return { ...(await super.get()), values: this.#values() };
  }
}
