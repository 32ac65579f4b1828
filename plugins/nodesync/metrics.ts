import { Gauge, type Registry } from 'prom-client';

/** Metrics of the nodes of the cluster. */
export class NodeSyncMetrics {
  constructor(
    registry: Registry,
    nodes: { allNodes(): ReadonlyMap<string, unknown>; overlaps(): number },
    problems: { nodes(): readonly string[] },
  ) {
    const registers = [registry];
    new Gauge({
      name: 'contiv_nodes',
      help: 'Nodes of the cluster that have an ID, including this one.',
      registers,
      collect() {
        this.set(nodes.allNodes().size);
      },
    });
    new Gauge({
      name: 'contiv_node_overlaps',
      help: 'Pods of other nodes with addresses of this node; any value above 0 is an error.',
      registers,
      collect() {
        this.set(nodes.overlaps());
      },
    });
    new Gauge({
      name: 'contiv_node_problems',
      help: 'Nodes whose addresses or names in Kubernetes and etcd are not all used; GET /contiv/v1/nodes says why.',
      registers,
      collect() {
        this.set(problems.nodes().length);
      },
    });
  }
}
