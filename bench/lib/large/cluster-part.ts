import { NODES, PODS, SERVICES } from '../ksr/large-cluster.ts';
import { serviceOf } from './large-records.ts';

const POLICIES = 2_000;
const podsOfNode = PODS / NODES;

/** A cluster with fewer nodes than the large one: the first of them, and what belongs to their pods. */
export class ClusterPart {
  readonly nodes: number;
  /** The first nodes; the others have no pods. */
  readonly #nodesWithPods: number;
  /** Numbers of the services that have pods here. */
  readonly services: readonly number[];
  /** Numbers of the policies that select pods of these services. */
  readonly policies: readonly number[];

  constructor(nodes = NODES, nodesWithPods = nodes) {
    this.nodes = nodes;
    this.#nodesWithPods = nodesWithPods;
    const services = new Set(this.pods.map(serviceOf));
    // each policy selects the pods of the service with its number
    const all = Array.from({ length: SERVICES }, (_, at) => at);
    this.services = all.filter((service) => services.has(service));
    this.policies = this.services.filter((service) => service < POLICIES);
  }

  get podCount(): number {
    return this.#nodesWithPods * podsOfNode;
  }

  /** The number of the n-th pod. */
  pod(at: number): number {
    return (at % this.#nodesWithPods) + NODES * Math.floor(at / this.#nodesWithPods);
  }

  get pods(): readonly number[] {
    return Array.from({ length: this.podCount }, (_, at) => this.pod(at));
  }

  hasPod(pod: number): boolean {
    return pod % NODES < this.#nodesWithPods;
  }
}
