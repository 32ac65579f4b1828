/** All services of the cluster, as this node renders them. */
import type { Slices } from '#infra/clock/slices.ts';
import type { Endpoints } from '#kubernetes/models/endpoints.ts';
import type { Service } from '#kubernetes/models/service.ts';
import { resources } from '#kubernetes/resources/resources.ts';
import type { KubeState } from '#plugins/controller/api/event-handler.ts';
import type { RenderedService, ServiceName } from '../rendered-service.ts';
import { AddressClaims } from './address-claims.ts';
import { backendOrder } from './backend-order.ts';
import { type LocalNode, NodeView } from './local-node.ts';
import type { OtherNode } from './other-nodes.ts';
import type { ProcessorChange } from './processor-change.ts';
import { describeService, type ServiceDescription } from './service-description.ts';
import { ServiceIndex } from './service-index.ts';
import { type ServiceSpec, serviceSpec } from './service-spec.ts';
import {
  type HealthCheck,
  isSameHealthCheck,
  isSameList,
  isSameRendering,
  type RenderingContext,
  type ServiceState,
  serviceState,
} from './service-state.ts';

const absent: ServiceState = {
  rendered: undefined,
  problems: [],
  nodeAddresses: [],
  localPods: [],
  healthCheck: undefined,
};

export class ServiceTable {
  readonly #records = new Map<ServiceName, Service>();
  readonly #specs = new Map<ServiceName, ServiceSpec>();
  /** Also without their service, which may follow. */
  readonly #endpoints = new Map<ServiceName, Endpoints>();
  readonly #claims = new AddressClaims();
  readonly #states = new Map<ServiceName, ServiceState>();
  readonly #rendered = new Map<ServiceName, RenderedService>();
  readonly #byNodeAddress = new ServiceIndex();
  readonly #byLocalPod = new ServiceIndex();
  readonly #problems = new Map<ServiceName, readonly string[]>();
  readonly #healthChecks = new Map<ServiceName, HealthCheck>();
  #context: RenderingContext;

  /** @param zone zone of the node; empty: unknown */
  constructor(node: LocalNode, zone: string) {
    this.#context = this.#contextFor(node, zone);
  }

  static async read(
    state: KubeState,
    node: LocalNode,
    zone: string,
    slices: Slices,
  ): Promise<ServiceTable> {
    const table = new ServiceTable(node, zone);
    for (const [key, value] of state.get('endpoints') ?? []) {
      const name = nameOf('endpoints', key);
      if (name !== undefined) table.#endpoints.set(name, value as Endpoints);
      if (slices.due()) await slices.turn();
    }
    for (const [key, value] of state.get('service') ?? []) {
      const name = nameOf('service', key);
      if (name !== undefined) table.#setRecord(name, value as Service);
      if (slices.due()) await slices.turn();
    }
    // who has an address is known after all services have been read
    await table.#renderAll(slices);
    return table;
  }

  /** Follows changes. */
  rendered(): ReadonlyMap<ServiceName, RenderedService> {
    return this.#rendered;
  }

  problems(): Map<ServiceName, readonly string[]> {
    return new Map(this.#problems);
  }

  problemsOf(name: ServiceName): readonly string[] {
    return this.#problems.get(name) ?? [];
  }

  healthChecks(): Map<ServiceName, HealthCheck> {
    return new Map(this.#healthChecks);
  }

  names(): ServiceName[] {
    return [...this.#records.keys()];
  }

  has(name: ServiceName): boolean {
    return this.#records.has(name);
  }

  /** @param pod of this node, `<namespace>/<name>` */
  ofLocalPod(pod: string): ReadonlySet<ServiceName> {
    return this.#byLocalPod.of(pod);
  }

  describe(name: ServiceName): ServiceDescription | undefined {
    const spec = this.#specs.get(name);
    return spec && describeService(spec, this.#endpoints.get(name), this.#context);
  }

  setService(name: ServiceName, record: Service | undefined): ProcessorChange {
    const change = new Collector();
    const affected = this.#setRecord(name, record);
    this.#render(name, change);
    for (const other of affected) this.#render(other, change);
    return change;
  }

  setEndpoints(name: ServiceName, record: Endpoints | undefined): ProcessorChange {
    const change = new Collector();
    if (record === undefined) this.#endpoints.delete(name);
    else this.#endpoints.set(name, record);
    this.#render(name, change);
    return change;
  }

  /** @param zone zone of the node; empty: unknown */
  async setNode(node: LocalNode, zone: string, slices: Slices): Promise<ProcessorChange> {
    this.#context = this.#contextFor(node, zone);
    for (const [name, record] of this.#records) {
      this.#setRecord(name, record);
      if (slices.due()) await slices.turn();
    }
    return this.#renderAll(slices);
  }

  /**
   * Renders all services again; what is known of the other nodes stays.
   * @param zone zone of the node; empty: unknown
   */
  setZone(zone: string, slices: Slices): Promise<ProcessorChange> {
    const { nodeName } = this.#context.topology;
    this.#context = { ...this.#context, topology: { nodeName, zone } };
    return this.#renderAll(slices);
  }

  /** Renders the services that have endpoints on the host of the node, or an address of it. */
  setOtherNode(node: OtherNode): ProcessorChange {
    const change = new Collector();
    const services = new Set<ServiceName>();
    for (const address of this.#context.node.otherNodes.set(node))
      for (const name of this.#byNodeAddress.of(address)) services.add(name);
    for (const name of services) this.#render(name, change);
    return change;
  }

  #contextFor(node: LocalNode, zone: string): RenderingContext {
    return {
      node: new NodeView(node),
      topology: { nodeName: node.name, zone },
      orderBackends: backendOrder(node.name),
      ownerOf: (key) => this.#claims.ownerOf(key),
    };
  }

  /** @returns other services that ask for an address whose owner has changed */
  #setRecord(name: ServiceName, record: Service | undefined): Iterable<ServiceName> {
    if (record === undefined) {
      this.#records.delete(name);
      this.#specs.delete(name);
      return this.#claims.replace(name, []);
    }
    const spec = serviceSpec(name, record, this.#context.node);
    this.#records.set(name, record);
    this.#specs.set(name, spec);
    return this.#claims.replace(
      name,
      spec.addresses.map((one) => ({
        service: name,
        kind: one.kind,
        created: spec.created,
        key: one.key,
      })),
    );
  }

  async #renderAll(slices: Slices): Promise<ProcessorChange> {
    const change = new Collector();
    for (const name of this.#specs.keys()) {
      this.#render(name, change);
      if (slices.due()) await slices.turn();
    }
    return change;
  }

  /** Renders a service again, and collects what has changed. */
  #render(name: ServiceName, change: Collector): void {
    const spec = this.#specs.get(name);
    const before = this.#states.get(name) ?? absent;
    const state =
      spec === undefined ? absent : serviceState(spec, this.#endpoints.get(name), this.#context);
    const isSame = isSameRendering(before.rendered, state.rendered);
    if (spec === undefined) this.#states.delete(name);
    else this.#states.set(name, isSame ? { ...state, rendered: before.rendered } : state);
    if (!isSame) {
      change.services.set(name, state.rendered);
      if (state.rendered === undefined) this.#rendered.delete(name);
      else this.#rendered.set(name, state.rendered);
    }
    if (!isSameList(before.problems, state.problems)) change.problems.set(name, state.problems);
    if (state.problems.length > 0) this.#problems.set(name, state.problems);
    else this.#problems.delete(name);
    if (!isSameHealthCheck(before.healthCheck, state.healthCheck))
      change.hasOtherHealthChecks = true;
    if (state.healthCheck !== undefined) this.#healthChecks.set(name, state.healthCheck);
    else this.#healthChecks.delete(name);
    this.#byNodeAddress.replace(name, state.nodeAddresses);
    this.#byLocalPod.replace(name, state.localPods);
  }
}

class Collector implements ProcessorChange {
  readonly services = new Map<ServiceName, RenderedService | undefined>();
  readonly problems = new Map<ServiceName, readonly string[]>();
  hasOtherHealthChecks = false;
}

/** undefined for keys that are not those of the resource. */
export function nameOf(resource: 'service' | 'endpoints', key: string): ServiceName | undefined {
  const names = resources[resource].parseKey(key);
  return names && `${names.namespace}/${names.name}`;
}
