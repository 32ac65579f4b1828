/** A Service object as this node reads it: its addresses, and how their traffic is distributed. */
import type { Service } from '#kubernetes/models/service.ts';
import { type IpBytes, type IpFamily, ipFamily, parseIp } from '#models/ip.ts';
import { familyOfAddress } from '#plugins/ipam/api.ts';
import type { AddressKind, ServiceName } from '../rendered-service.ts';
import { familiesText, isPort, type NodeView } from './local-node.ts';
import {
  type NotRendered,
  problem,
  type RequestedAddress,
  RequestedAddresses,
  type UnrenderedAddress,
} from './requested-addresses.ts';
import { type PermittedByFamily, sourceRanges } from './source-ranges.ts';

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
  /** Those who may use the addresses of its load balancer. */
  readonly loadBalancerClients: PermittedByFamily;
  /** Those of its families in which clients outside of the cluster are served. */
  readonly familiesOutside: readonly IpFamily[];
  /** Port of the health check for load balancers; 0: none. */
  readonly healthCheckPort: number;
}

/** Default of Kubernetes, in seconds. */
const DEFAULT_AFFINITY_TIMEOUT = 10_800;

export function serviceSpec(name: ServiceName, service: Service, node: NodeView): ServiceSpec {
  const families = servedFamilies(service, node);
  const whyNot = whyNothing(service, families, node);
  const addresses =
    whyNot === undefined
      ? new AddressReader(service, families, node).read()
      : { requested: new Map<string, RequestedAddress>(), unrendered: [] };
  const isBalanced = service.service_type === 'LoadBalancer';
  const externalPolicy = service.external_traffic_policy === 'Local' ? 'Local' : 'Cluster';
  const ranges = whyNot === undefined && isBalanced ? service.loadbalancer_source_ranges : [];
  const { clients, problems } = sourceRanges(ranges, node);
  const familiesOutside = families.filter((family) => node.familiesOutside.includes(family));
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
    familiesOutside,
    // a load balancer must send its clients, which are outside, to no node that does not serve them
    healthCheckPort:
      hasHealthCheck && familiesOutside.length > 0 && isPort(service.health_check_node_port)
        ? service.health_check_node_port
        : 0,
  };
}

/** Those of its cluster addresses, which are those of its `ipFamilies`: it has other addresses in no other one, as in kube-proxy. */
function servedFamilies(service: Service, node: NodeView): readonly IpFamily[] {
  const own = new Set(
    clusterIps(service)
      .map(parseIp)
      .flatMap((ip) => (ip ? ipFamily(ip) : [])),
  );
  return node.families.filter((family) => own.has(family));
}

function whyNothing(
  service: Service,
  families: readonly IpFamily[],
  node: NodeView,
): string | undefined {
  if (service.proxy_name !== '') return `the proxy "${service.proxy_name}" serves it`;
  if (service.headless) return 'it has the label service.kubernetes.io/headless';
  if (service.service_type === 'ExternalName') return 'its type is ExternalName';
  const ips = clusterIps(service);
  if (ips.every((ip) => ip === '')) return 'it has no cluster address';
  if (ips.some((ip) => ip === 'None')) return 'it is headless';
  return families.length > 0
    ? undefined
    : `it has no ${familiesText(node.families)} cluster address`;
}

function clusterIps(service: Service): readonly string[] {
  return service.cluster_ips.length > 0 ? service.cluster_ips : [service.cluster_ip];
}

class AddressReader {
  readonly #service: Service;
  readonly #families: readonly IpFamily[];
  readonly #node: NodeView;
  readonly #addresses: RequestedAddresses;

  constructor(service: Service, families: readonly IpFamily[], node: NodeView) {
    this.#service = service;
    this.#families = families;
    this.#node = node;
    this.#addresses = new RequestedAddresses(node);
  }

  /** In the order of precedence within one service. */
  read(): RequestedAddresses {
    const service = this.#service;
    for (const ip of clusterIps(service)) this.#addAll('cluster-ip', ip);
    for (const ip of this.#node.addresses)
      if (this.#families.includes(familyOfAddress(ip))) this.#addAll('node-port', ip);
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
    const isExternal = kind === 'load-balancer' || kind === 'external-ip';
    if (bytes !== undefined && !this.#families.includes(ipFamily(bytes)))
      return this.#whyNotFamily(ipFamily(bytes));
    const whyNot = this.#node.whyNot(isExternal ? 'external address' : 'cluster IP', bytes);
    return whyNot === undefined ? undefined : problem(`${bytes ? text : `"${text}"`} ${whyNot}`);
  }

  #whyNotFamily(family: IpFamily): NotRendered {
    const { families } = this.#node;
    return families.includes(family)
      ? problem(`the service has no IPv${family} cluster address`)
      : { reason: `only ${familiesText(families)} is rendered`, isProblem: false };
  }
}
