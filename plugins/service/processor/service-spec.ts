/** A Service object as this node reads it: its addresses, and how their traffic is distributed. */
import type { Service } from '#kubernetes/models/service.ts';
import { type IpBytes, ipFamily, parseIp } from '#models/ip.ts';
import type { AddressKind, PermittedClients, ServiceName } from '../rendered-service.ts';
import { isPort, type NodeView } from './local-node.ts';
import {
  type NotRendered,
  problem,
  type RequestedAddress,
  RequestedAddresses,
  type UnrenderedAddress,
} from './requested-addresses.ts';
import { sourceRanges } from './source-ranges.ts';

/** How traffic of an address is distributed: to backends of all nodes, or of this node only. */
export type TrafficPolicy = 'Cluster' | 'Local';

export interface ServiceSpec {
  readonly name: ServiceName;
  /** RFC 3339; empty: unknown, which is treated as the oldest. */
  readonly created: string;
  /** Each address, port and protocol once. */
  readonly addresses: readonly RequestedAddress[];
  readonly unrendered: readonly UnrenderedAddress[];
  /** Why nothing of the service is rendered; undefined if something may be. */
  readonly whyNot: string | undefined;
  /** Requirements that cannot be met. */
  readonly problems: readonly string[];
  readonly internalPolicy: TrafficPolicy;
  readonly externalPolicy: TrafficPolicy;
  /** Seconds; 0: none. */
  readonly affinityTimeout: number;
  /** Those who may use the addresses of its load balancer; undefined: everyone. */
  readonly loadBalancerClients: PermittedClients | undefined;
  /** Port of the health check for load balancers; 0: none. */
  readonly healthCheckPort: number;
}

/** Default of Kubernetes, in seconds. */
const DEFAULT_AFFINITY_TIMEOUT = 10_800;

export function serviceSpec(name: ServiceName, service: Service, node: NodeView): ServiceSpec {
  const whyNot = whyNothing(service, node);
  const addresses =
    whyNot === undefined
      ? new AddressReader(service, node).read()
      : { requested: new Map<string, RequestedAddress>(), unrendered: [] };
  const isBalanced = service.service_type === 'LoadBalancer';
  const externalPolicy = service.external_traffic_policy === 'Local' ? 'Local' : 'Cluster';
  const ranges = whyNot === undefined && isBalanced ? service.loadbalancer_source_ranges : [];
  const { clients, problems } = sourceRanges(ranges, node);
  const hasHealthCheck = whyNot === undefined && isBalanced && externalPolicy === 'Local';
  return {
    name,
    created: service.creation_timestamp,
    addresses: [...addresses.requested.values()],
    unrendered: addresses.unrendered,
    whyNot,
    problems,
    loadBalancerClients: clients,
    internalPolicy: service.internal_traffic_policy === 'Local' ? 'Local' : 'Cluster',
    externalPolicy,
    affinityTimeout:
      service.session_affinity === 'ClientIP'
        ? service.session_affinity_timeout || DEFAULT_AFFINITY_TIMEOUT
        : 0,
    healthCheckPort:
      hasHealthCheck && isPort(service.health_check_node_port) ? service.health_check_node_port : 0,
  };
}

/** A service without a cluster address has no other address either, as in kube-proxy. */
function whyNothing(service: Service, node: NodeView): string | undefined {
  if (service.proxy_name !== '') return `the proxy "${service.proxy_name}" serves it`;
  if (service.headless) return 'it has the label service.kubernetes.io/headless';
  if (service.service_type === 'ExternalName') return 'its type is ExternalName';
  const ips = clusterIps(service);
  if (ips.every((ip) => ip === '')) return 'it has no cluster address';
  if (ips.some((ip) => ip === 'None')) return 'it is headless';
  const inFamily = ips.some((ip) => {
    const bytes = parseIp(ip);
    return bytes !== undefined && ipFamily(bytes) === node.family;
  });
  return inFamily ? undefined : `it has no IPv${node.family} cluster address`;
}

function clusterIps(service: Service): readonly string[] {
  return service.cluster_ips.length > 0 ? service.cluster_ips : [service.cluster_ip];
}

class AddressReader {
  readonly #service: Service;
  readonly #node: NodeView;
  readonly #addresses: RequestedAddresses;

  constructor(service: Service, node: NodeView) {
    this.#service = service;
    this.#node = node;
    this.#addresses = new RequestedAddresses(node);
  }

  /** In the order of precedence within one service. */
  read(): RequestedAddresses {
    const service = this.#service;
    for (const ip of clusterIps(service)) this.#addAll('cluster-ip', ip);
    for (const ip of this.#node.addresses) this.#addAll('node-port', ip);
    if (service.service_type === 'LoadBalancer') {
      for (const ip of service.lb_ingress_ips) if (ip !== '') this.#addAll('load-balancer', ip);
      for (const ip of service.lb_proxy_ips) {
        this.#addAll('load-balancer', ip, {
          reason: 'its traffic must go through the load balancer (ipMode Proxy)',
          isProblem: false,
        });
      }
    }
    const whyNone = this.#node.hasExternalIps
      ? undefined
      : { reason: 'disableExternalIPs is set', isProblem: false };
    for (const ip of service.external_ips) this.#addAll('external-ip', ip, whyNone);
    return this.#addresses;
  }

  /** Adds an address for all ports of the service. */
  #addAll(kind: AddressKind, address: string, reason?: NotRendered): void {
    const whyNot = reason ?? this.#whyNotAddress(kind, address, parseIp(address));
    for (const { name: portName, port: servicePort, node_port, protocol } of this.#service.port) {
      const port = kind === 'node-port' ? node_port : servicePort;
      if (kind === 'node-port' && port === 0) continue;
      this.#addresses.add({ kind, portName, address, port, protocol: protocol || 'TCP' }, whyNot);
    }
  }

  #whyNotAddress(
    kind: AddressKind,
    text: string,
    bytes: IpBytes | undefined,
  ): NotRendered | undefined {
    if (bytes !== undefined && ipFamily(bytes) !== this.#node.family)
      return { reason: `only IPv${this.#node.family} is rendered`, isProblem: false };
    const isExternal = kind === 'load-balancer' || kind === 'external-ip';
    const whyNot = this.#node.whyNot(isExternal ? 'external address' : 'cluster IP', bytes);
    return whyNot === undefined ? undefined : problem(`${bytes ? text : `"${text}"`} ${whyNot}`);
  }
}
