import { Gauge, type Registry } from 'prom-client';

/** Metrics of the nodes of the cluster, as this one sees them. */
export class NodeSyncMetrics {
  constructor(
    registry: Registry,
    nodes: { allNodes(): ReadonlyMap<string, unknown>; overlaps(): number },
  ) {
    const registers = [registry];
    new Gauge({
      name: 'contiv_nodes',
      help: 'Nodes of the cluster that have an ID, this one included.',
      registers,
      collect() {
        this.set(nodes.allNodes().size);
      },
    });
    new Gauge({
      name: 'contiv_node_overlaps',
      help: 'Pods of other nodes with addresses of this one; more than none is an alarm.',
      registers,
      collect() {
        this.set(nodes.overlaps());
      },
    });
  }
}
