/** Figures of this node for Prometheus, under the names of the original on `/stats`. */

export interface StatsCollectorApi {
  /**
   * Shows a gauge on `/stats`, with the name of the node as its label.
   * @param valueFunc called for each collection
   */
  registerGaugeFunc(name: string, help: string, valueFunc: () => number): void;
}
