/** Figures of this node: for Prometheus, under the names of the original on `/stats`, and for documents. */
import type { InterfaceCounters } from '#plugins/controller/api/ports/stats.ts';

export { countersDocument } from './interface-counters.ts';

export interface StatsCollectorApi {
  /**
   * Shows a gauge on `/stats`, with the name of the node as its label.
   * @param valueFunc called for each collection
   */
  registerGaugeFunc(name: string, help: string, valueFunc: () => number): void;
}

/** The counters of a configured interface. */
export interface InterfaceSample {
  /** Logical name. */
  readonly interfaceName: string;
  readonly counters: InterfaceCounters;
}

/** Result of one collection. */
export interface InterfaceSamples {
  /** Milliseconds since the epoch; undefined: there are no counters. */
  readonly collectedAt: number | undefined;
  /** Why there are no counters. */
  readonly error: string | undefined;
  readonly interfaces: readonly InterfaceSample[];
  /** Counters of one interface by its logical name. */
  find(interfaceName: string): InterfaceCounters | undefined;
}
