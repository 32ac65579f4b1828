/** One service on this node: what it asks for, and what is rendered of it. */
import type { Steps } from '#infra/clock/steps.ts';
import type { Endpoints } from '#kubernetes/models/endpoints.ts';
import { familyOfAddress } from '#plugins/ipam/api.ts';
import {
  type Backend,
  ownerText,
  type PermittedClients,
  type RenderedService,
  type ServiceAddress,
  type ServiceName,
} from '../rendered-service.ts';
import type { BackendOrder } from './backend-order.ts';
import {
  type Endpoint,
  type EndpointContext,
  type EndpointList,
  endpointListInSteps,
  noEndpoints,
  portKey,
} from './endpoint-list.ts';
import { judgmentFor, type Topology } from './endpoint-selection.ts';
import { otherNodePorts } from './other-node-ports.ts';
import { type NotRendered, problem, type RequestedAddress } from './requested-addresses.ts';
import type { ServiceSpec, TrafficPolicy } from './service-spec.ts';

/** Input of the rendering of a service, besides its objects. */
export interface RenderingContext extends EndpointContext {
  readonly topology: Topology;
  readonly orderBackends: BackendOrder;
  /** The service that has an address. */
  ownerOf(key: string): ServiceName | undefined;
}

export interface ServiceState {
  /** undefined: no address is rendered. */
  readonly rendered: RenderedService | undefined;
  /** Requirements of the objects that cannot be met. */
  readonly problems: readonly string[];
  /** Addresses whose treatment depends on which node or service has them, each once. */
  readonly ownedAddresses: readonly string[];
  /** Other nodes whose node ports have backends of their own, each once. */
  readonly askedNodes: readonly string[];
  /** Pods of this node among its endpoints, each once. */
  readonly localPods: readonly string[];
  /** undefined: it has no health check. */
  readonly healthCheck: HealthCheck | undefined;
}

/** The health check of a service, for its load balancer. */
export interface HealthCheck {
  readonly port: number;
  /** Ready endpoints of this node; with both families those of the one that has more. */
  readonly localEndpoints: number;
}

/** The port of the endpoints of an address. */
export function portOf({
  address,
  portName,
  protocol,
}: Pick<RequestedAddress, 'address' | 'portName' | 'protocol'>): string {
  return portKey(familyOfAddress(address), portName, protocol);
}

export function policyOf(
  spec: ServiceSpec,
  { kind }: Pick<RequestedAddress, 'kind'>,
): TrafficPolicy {
  return kind === 'cluster-ip' ? spec.internalPolicy : spec.externalPolicy;
}

/** Those who may use the address; undefined: everyone. */
export function clientsOf(
  spec: ServiceSpec,
  { kind, address }: Pick<RequestedAddress, 'kind' | 'address'>,
): PermittedClients | undefined {
  return kind === 'load-balancer'
    ? spec.loadBalancerClients.get(familyOfAddress(address))
    : undefined;
}

/** Why a requested address is not rendered; undefined if it is. */
export function whyNotCarried(
  one: RequestedAddress,
  service: ServiceName,
  { node, ownerOf }: Pick<RenderingContext, 'node' | 'ownerOf'>,
): NotRendered | undefined {
  const owner = ownerOf(one.key);
  if (owner !== undefined && owner !== service)
    return problem(`${ownerText(owner)} has ${one.address} ${one.protocol} port ${one.port}`);
  if (!isExternal(one)) return undefined;
  // VPP would make the address its own, and not reach the node any more
  const other = node.serverOf(one.address);
  if (other !== undefined)
    return {
      reason: `${one.address} is an address of node ${other}, which serves it`,
      isProblem: false,
    };
  return node.isOfEtcd(one.address)
    ? problem(`${one.address} is an address of etcd, which the agent needs`)
    : undefined;
}

function isExternal({ kind }: Pick<RequestedAddress, 'kind'>): boolean {
  return kind === 'external-ip' || kind === 'load-balancer';
}

/** Whether the policy of the address is for clients outside the cluster only. A host port has its pod alone. */
function isFromOutside({ kind }: RequestedAddress): boolean {
  return isExternal({ kind }) || kind === 'node-port';
}

/** In steps: a service may have thousands of endpoints. */
export function* serviceState(
  spec: ServiceSpec,
  record: Endpoints | undefined,
  context: RenderingContext,
): Steps<ServiceState> {
  const endpoints =
    record === undefined || spec.whyNot !== undefined
      ? noEndpoints
      : yield* endpointListInSteps(record, context);
  /** By port and policy: the addresses of a port share them. */
  const backendLists = new Map<string, readonly Backend[]>();
  const addresses: ServiceAddress[] = [];
  const refused: string[] = [];
  for (const one of spec.addresses) {
    yield;
    const { key: _, ...address } = one;
    const whyNot = whyNotCarried(one, spec.name, context);
    if (whyNot !== undefined) {
      if (whyNot.isProblem) refused.push(whyNot.reason);
      continue;
    }
    const policy = policyOf(spec, one);
    const port = portOf(one);
    const backendsBy = (which: TrafficPolicy): readonly Backend[] => {
      const list = `${which} ${port}`;
      const backends =
        backendLists.get(list) ?? usedBackends(endpoints.byPort.get(port) ?? [], which, context);
      backendLists.set(list, backends);
      return backends;
    };
    const clients = clientsOf(spec, one);
    const isOtherInside = policy === 'Local' && isFromOutside(one);
    addresses.push({
      ...address,
      replacesClient: one.kind !== 'cluster-ip' && policy === 'Cluster',
      affinityTimeout: spec.affinityTimeout,
      backends: backendsBy(policy),
      ...(isOtherInside && { backendsInside: backendsBy('Cluster') }),
      ...(clients && { clients }),
    });
  }
  yield;
  const isLocal = spec.externalPolicy === 'Local';
  const atOtherNodes = isLocal
    ? otherNodePorts(addresses, endpoints, context.node, context.orderBackends)
    : [];
  const others = atOtherNodes.length > 0 && { atOtherNodes };
  return {
    rendered: addresses.length === 0 ? undefined : { name: spec.name, addresses, ...others },
    problems: [
      ...spec.problems,
      ...spec.unrendered.filter(({ isProblem }) => isProblem).map(({ reason }) => reason),
      ...refused,
      ...endpoints.problems,
    ],
    ownedAddresses: ownedAddresses(spec, endpoints),
    askedNodes: isLocal ? otherNodes(endpoints) : [],
    localPods: localPods(endpoints),
    healthCheck:
      spec.healthCheckPort === 0
        ? undefined
        : { port: spec.healthCheckPort, localEndpoints: localEndpoints(spec, endpoints) },
  };
}

/** Those of a port that get traffic, in their order. */
function usedBackends(
  endpoints: readonly Endpoint[],
  policy: TrafficPolicy,
  { topology, orderBackends }: RenderingContext,
): Backend[] {
  const whyNot = judgmentFor(policy, endpoints, topology);
  const used = endpoints.filter((endpoint) => whyNot(endpoint) === undefined);
  return orderBackends(used).map(({ address, port, nodeName, isLocal, place }) => {
    return { address, port, nodeName, isLocal, place };
  });
}

/**
 * Number of addresses of this node that are ready for some port, as kube-proxy counts them. A pod with two addresses is one
 * endpoint.
 */
function localEndpoints({ familiesOutside }: ServiceSpec, { byPort }: EndpointList): number {
  const addresses = new Set<string>();
  for (const endpoints of byPort.values()) {
    for (const { address, isLocal, state } of endpoints)
      if (isLocal && state === 'ready') addresses.add(address);
  }
  const families = [...addresses].map(familyOfAddress);
  return Math.max(
    ...familiesOutside.map((family) => families.filter((one) => one === family).length),
  );
}

function ownedAddresses(spec: ServiceSpec, { byPort, clusterIps }: EndpointList): string[] {
  const external = spec.addresses.filter(isExternal).map(({ address }) => address);
  const addresses = new Set([...external, ...clusterIps]);
  for (const endpoints of byPort.values())
    for (const { address, place } of endpoints) if (place !== 'pod') addresses.add(address);
  return [...addresses];
}

function otherNodes({ byPort }: EndpointList): string[] {
  const nodes = new Set<string>();
  for (const endpoints of byPort.values())
    for (const { nodeName, isLocal } of endpoints) if (!isLocal) nodes.add(nodeName);
  return [...nodes];
}

function localPods({ byPort }: EndpointList): string[] {
  const pods = new Set<string>();
  for (const endpoints of byPort.values())
    for (const { pod, isLocal } of endpoints) if (isLocal && pod !== '') pods.add(pod);
  return [...pods];
}
