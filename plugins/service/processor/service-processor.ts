/**
 * Kubernetes semantics of services and host ports: computes from Service, Endpoints and Pod objects which addresses
 * this node serves, and with which backends. A change costs as much as the endpoints of the service that it
 * concerns; a resync reaches the same state.
 */
import { isDeepStrictEqual } from 'node:util';
import type { Slices } from '#infra/clock/slices.ts';
import { inSlices, type Steps } from '#infra/clock/steps.ts';
import type { Endpoints } from '#kubernetes/models/endpoints.ts';
import type { Node } from '#kubernetes/models/node.ts';
import type { Pod } from '#kubernetes/models/pod.ts';
import type { Service } from '#kubernetes/models/service.ts';
import { type KeyNames, resources } from '#kubernetes/resources/resources.ts';
import type { KubeState } from '#plugins/controller/api/event-handler.ts';
import type { KubeStateChangePayload } from '#plugins/controller/api/events.ts';
import { hostPortsName, type RenderedService, type ServiceName } from '../rendered-service.ts';
import { AddressClaims } from './address-claims.ts';
import { backendOrder } from './backend-order.ts';
import { hostPortsEndpoints, hostPortsSpec } from './host-ports.ts';
import { type LocalNode, NodeView } from './local-node.ts';
import type { OtherNode } from './other-nodes.ts';
import { ProcessorChange } from './processor-change.ts';
import { describeService, type ServiceDescription } from './service-description.ts';
import { ServiceIndex } from './service-index.ts';
import { type ServiceSpec, serviceSpec } from './service-spec.ts';
import {
  type HealthCheck,
  type RenderingContext,
  type ServiceState,
  serviceState,
} from './service-state.ts';

/** The object behind a spec; undefined: nothing is asked of this node. Its addresses change with those of the node. */
type SpecSource = (node: NodeView) => ServiceSpec | undefined;

const absent: ServiceState = {
  rendered: undefined,
  problems: [],
  ownedAddresses: [],
  askedNodes: [],
  localPods: [],
  healthCheck: undefined,
};

export class ServiceProcessor {
  readonly #sources = new Map<ServiceName, SpecSource>();
  readonly #specs = new Map<ServiceName, ServiceSpec>();
  /** Also without their service, which may follow. */
  readonly #endpoints = new Map<ServiceName, Endpoints>();
  readonly #claims = new AddressClaims();
  readonly #states = new Map<ServiceName, ServiceState>();
  readonly #rendered = new Map<ServiceName, RenderedService>();
  readonly #healthChecks = new Map<ServiceName, HealthCheck>();
  readonly #byOwnedAddress = new ServiceIndex();
  readonly #byClusterIp = new ServiceIndex();
  readonly #byAskedNode = new ServiceIndex();
  readonly #byLocalPod = new ServiceIndex();
  #context: RenderingContext;

  private constructor(node: LocalNode, zone: string) {
    this.#context = this.#contextFor(node, zone);
  }

  /** Reads the whole state of Kubernetes. */
  static async read(state: KubeState, node: LocalNode, slices: Slices): Promise<ServiceProcessor> {
    const record = state.get('node')?.get(resources.node.key(node.name, '')) as Node | undefined;
    const processor = new ServiceProcessor(node, record?.zone ?? '');
    for (const [key, value] of state.get('endpoints') ?? []) {
      const name = nameOf('endpoints', key);
      if (name !== undefined) processor.#endpoints.set(name, value as Endpoints);
      if (slices.due()) await slices.turn();
    }
    for (const [key, value] of state.get('service') ?? []) {
      const name = nameOf('service', key);
      if (name !== undefined) processor.#setSource(name, serviceSource(name, value as Service));
      if (slices.due()) await slices.turn();
    }
    for (const [key, value] of state.get('pod') ?? []) {
      const id = resources.pod.parseKey(key);
      if (id !== undefined) processor.#setHostPorts(id, value as Pod);
      if (slices.due()) await slices.turn();
    }
    // who has an address is known after all services have been read
    await processor.#renderAll(slices);
    return processor;
  }

  /** Services with at least one address on this node; follows changes. */
  rendered(): ReadonlyMap<ServiceName, RenderedService> {
    return this.#rendered;
  }

  /** Requirements of a service that cannot be met, in sentences for operators. */
  problemsOf(name: ServiceName): readonly string[] {
    return this.#states.get(name)?.problems ?? [];
  }

  /** Health checks that this node serves for load balancers. */
  healthChecks(): Map<ServiceName, HealthCheck> {
    return new Map(this.#healthChecks);
  }

  /** All services of the cluster, also those that are not rendered, and the pods of this node with host ports. */
  names(): ServiceName[] {
    return [...this.#sources.keys()];
  }

  /**
   * Services with an endpoint in a pod of this node.
   * @param pod `<namespace>/<name>`
   */
  ofLocalPod(pod: string): ReadonlySet<ServiceName> {
    return this.#byLocalPod.of(pod);
  }

  /** undefined: there is no such service. */
  describe(name: ServiceName): ServiceDescription | undefined {
    const spec = this.#specs.get(name);
    return spec && describeService(spec, this.#endpoints.get(name), this.#context);
  }

  /** Applies a change of the Kubernetes state; other resources than those of services have no effect. */
  async change(
    { resource, key, current }: Omit<KubeStateChangePayload, 'previous'>,
    slices: Slices,
  ): Promise<ProcessorChange> {
    const change = new ProcessorChange();
    if (resource === 'node') {
      if (key !== resources.node.key(this.#context.node.name, '')) return change;
      const { nodeName, zone: before } = this.#context.topology;
      const zone = (current as Node | undefined)?.zone ?? '';
      if (zone === before) return change;
      this.#context = { ...this.#context, topology: { nodeName, zone } };
      return this.#renderAll(slices);
    }
    for (const name of this.#set(resource, key, current))
      await inSlices(this.#render(name, change), slices);
    return change;
  }

  /** Applies a change of this node, for example of its addresses. */
  async setNode(node: LocalNode, slices: Slices): Promise<ProcessorChange> {
    this.#context = this.#contextFor(node, this.#context.topology.zone);
    for (const [name, source] of this.#sources) {
      this.#setSource(name, source);
      if (slices.due()) await slices.turn();
    }
    return this.#renderAll(slices);
  }

  /** Applies a change of other nodes: of services that have endpoints on them, or an address of them. */
  async setOtherNodes(nodes: readonly OtherNode[], slices: Slices): Promise<ProcessorChange> {
    const change = new ProcessorChange();
    const services = new Set<ServiceName>();
    for (const node of nodes) {
      const changed = this.#context.node.otherNodes.set(node);
      for (const address of changed.addresses)
        for (const name of this.#byOwnedAddress.of(address)) services.add(name);
      for (const other of changed.nodes)
        for (const name of this.#byAskedNode.of(other)) services.add(name);
    }
    for (const name of services) await inSlices(this.#render(name, change), slices);
    return change;
  }

  /** @returns the services that have to be rendered again */
  #set(resource: string, key: string, current: object | undefined): Iterable<ServiceName> {
    if (resource === 'pod') {
      const id = resources.pod.parseKey(key);
      return id ? [hostPortsName(id), ...this.#setHostPorts(id, current as Pod | undefined)] : [];
    }
    if (resource !== 'service' && resource !== 'endpoints') return [];
    const name = nameOf(resource, key);
    if (name === undefined) return [];
    if (resource === 'service') {
      const record = current as Service | undefined;
      return [name, ...this.#setSource(name, record && serviceSource(name, record))];
    }
    if (current === undefined) this.#endpoints.delete(name);
    else this.#endpoints.set(name, current as Endpoints);
    return [name];
  }

  /** @returns other services that have to be rendered again */
  #setHostPorts(id: KeyNames, record: Pod | undefined): Set<ServiceName> {
    const name = hostPortsName(id);
    const affected = this.#setSource(name, record && ((node) => hostPortsSpec(id, record, node)));
    if (record !== undefined && this.#specs.has(name))
      this.#endpoints.set(name, hostPortsEndpoints(id, record, this.#context.node));
    else this.#endpoints.delete(name);
    return affected;
  }

  #contextFor(node: LocalNode, zone: string): RenderingContext {
    return {
      node: new NodeView(node),
      topology: { nodeName: node.name, zone },
      orderBackends: backendOrder(node.name),
      ownerOf: (key) => this.#claims.ownerOf(key),
      clusterIpOf: (address) => [...this.#byClusterIp.of(address)].sort()[0],
    };
  }

  /** @returns other services that have to be rendered again */
  #setSource(name: ServiceName, source: SpecSource | undefined): Set<ServiceName> {
    const spec = source?.(this.#context.node);
    if (source === undefined || spec === undefined) {
      this.#sources.delete(name);
      this.#specs.delete(name);
    } else {
      this.#sources.set(name, source);
      this.#specs.set(name, spec);
    }
    const addresses = spec?.addresses ?? [];
    const created = spec?.created ?? '';
    const affected = this.#claims.replace(
      name,
      addresses.map(({ kind, key }) => ({ service: name, kind, created, key })),
    );
    const clusterIps = addresses.filter(({ kind }) => kind === 'cluster-ip');
    const changed = this.#byClusterIp.replace(name, [
      ...new Set(clusterIps.map(({ address }) => address)),
    ]);
    for (const ip of changed) for (const one of this.#byOwnedAddress.of(ip)) affected.add(one);
    affected.delete(name);
    return affected;
  }

  async #renderAll(slices: Slices): Promise<ProcessorChange> {
    const change = new ProcessorChange();
    for (const name of this.#specs.keys()) {
      await inSlices(this.#render(name, change), slices);
      if (slices.due()) await slices.turn();
    }
    return change;
  }

  /** Renders a service again, and collects what has changed. */
  *#render(name: ServiceName, change: ProcessorChange): Steps<void> {
    const spec = this.#specs.get(name);
    const before = this.#states.get(name) ?? absent;
    const state =
      spec === undefined
        ? absent
        : yield* serviceState(spec, this.#endpoints.get(name), this.#context);
    yield;
    const isSame = isDeepStrictEqual(before.rendered, state.rendered);
    if (spec === undefined) this.#states.delete(name);
    else this.#states.set(name, isSame ? { ...state, rendered: before.rendered } : state);
    if (!isSame) {
      change.services.set(name, state.rendered);
      if (state.rendered === undefined) this.#rendered.delete(name);
      else this.#rendered.set(name, state.rendered);
    }
    if (!isDeepStrictEqual(before.problems, state.problems))
      change.problems.set(name, state.problems);
    if (!isDeepStrictEqual(before.healthCheck, state.healthCheck))
      change.hasOtherHealthChecks = true;
    if (state.healthCheck !== undefined) this.#healthChecks.set(name, state.healthCheck);
    else this.#healthChecks.delete(name);
    this.#byOwnedAddress.replace(name, state.ownedAddresses);
    this.#byAskedNode.replace(name, state.askedNodes);
    this.#byLocalPod.replace(name, state.localPods);
  }
}

function serviceSource(name: ServiceName, record: Service): SpecSource {
  return (node) => serviceSpec(name, record, node);
}

/** undefined for keys that are not those of the resource. */
function nameOf(resource: 'service' | 'endpoints', key: string): ServiceName | undefined {
  const names = resources[resource].parseKey(key);
  return names && `${names.namespace}/${names.name}`;
}
