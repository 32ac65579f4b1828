/**
 * Kubernetes semantics of services: computes from Service and Endpoints objects which addresses this
 * node serves, and with which backends. A change costs as much as the endpoints of the service that it
 * concerns; a resync reaches the same state.
 */
import type { Slices } from '#infra/clock/slices.ts';
import type { Endpoints } from '#kubernetes/models/endpoints.ts';
import type { Node } from '#kubernetes/models/node.ts';
import type { Service } from '#kubernetes/models/service.ts';
import { resources } from '#kubernetes/resources/resources.ts';
import type { KubeState } from '#plugins/controller/api/event-handler.ts';
import type { KubeStateChangePayload } from '#plugins/controller/api/events.ts';
import type { RenderedService, ServiceName } from '../rendered-service.ts';
import type { LocalNode } from './local-node.ts';
import type { OtherNode } from './other-nodes.ts';
import type { ProcessorChange } from './processor-change.ts';
import type { ServiceDescription } from './service-description.ts';
import type { HealthCheck } from './service-state.ts';
import { nameOf, ServiceTable } from './service-table.ts';

const nothing: ProcessorChange = {
  services: new Map(),
  problems: new Map(),
  hasOtherHealthChecks: false,
};

export class ServiceProcessor {
  #node: LocalNode = {
    name: '',
    family: 4,
    addresses: [],
    podSubnet: '',
    ownPodSubnet: '',
    internalSubnets: [],
    neededPorts: [],
    gateway: '',
    otherNodes: [],
  };
  /** Zone of the node; empty: unknown. */
  #zone = '';
  #table = new ServiceTable(this.#node, this.#zone);

  /** Replaces the whole state, at its end. */
  async resync(state: KubeState, node: LocalNode, slices: Slices): Promise<void> {
    const record = state.get('node')?.get(resources.node.key(node.name, '')) as Node | undefined;
    const zone = record?.zone ?? '';
    this.#table = await ServiceTable.read(state, node, zone, slices);
    this.#node = node;
    this.#zone = zone;
  }

  /** Applies a change of the Kubernetes state; other resources than those of services have no effect. */
  async change(
    { resource, key, current }: Omit<KubeStateChangePayload, 'previous'>,
    slices: Slices,
  ): Promise<ProcessorChange> {
    if (resource === 'service' || resource === 'endpoints') {
      const name = nameOf(resource, key);
      if (name === undefined) return nothing;
      return resource === 'service'
        ? this.#table.setService(name, current as Service | undefined)
        : this.#table.setEndpoints(name, current as Endpoints | undefined);
    }
    if (resource !== 'node' || key !== resources.node.key(this.#node.name, '')) return nothing;
    const zone = (current as Node | undefined)?.zone ?? '';
    if (zone === this.#zone) return nothing;
    this.#zone = zone;
    return this.#table.setZone(zone, slices);
  }

  /** Applies a change of this node, for example of its addresses. */
  async setNode(node: LocalNode, slices: Slices): Promise<ProcessorChange> {
    this.#node = node;
    return this.#table.setNode(node, this.#zone, slices);
  }

  /** Applies a change of another node. */
  setOtherNode(node: OtherNode): ProcessorChange {
    return this.#table.setOtherNode(node);
  }

  /** Services with at least one address on this node; follows changes. */
  rendered(): ReadonlyMap<ServiceName, RenderedService> {
    return this.#table.rendered();
  }

  /** Requirements of services that cannot be met, in sentences for operators. */
  problems(): ReadonlyMap<ServiceName, readonly string[]> {
    return this.#table.problems();
  }

  /** The same of one service. */
  problemsOf(name: ServiceName): readonly string[] {
    return this.#table.problemsOf(name);
  }

  /** Health checks that this node serves for load balancers. */
  healthChecks(): ReadonlyMap<ServiceName, HealthCheck> {
    return this.#table.healthChecks();
  }

  /** All services of the cluster, also those that are not rendered. */
  names(): readonly ServiceName[] {
    return this.#table.names();
  }

  /** Whether there is such a service in the cluster. */
  has(name: ServiceName): boolean {
    return this.#table.has(name);
  }

  /** Services with an endpoint in a pod of this node, `<namespace>/<name>`. */
  ofLocalPod(pod: string): ReadonlySet<ServiceName> {
    return this.#table.ofLocalPod(pod);
  }

  /** undefined: there is no such service. */
  describe(name: ServiceName): ServiceDescription | undefined {
    return this.#table.describe(name);
  }
}
