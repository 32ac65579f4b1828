/** Additions of the cluster to a service: its addresses, its node ports, and the endpoints of the pods that it selects. */

import {
  type EndpointAddress,
  type EndpointPort,
  type Endpoints,
  endpointsModel,
} from '#kubernetes/models/endpoints.ts';
import type { Pod } from '#kubernetes/models/pod.ts';
import type { Service, ServicePort } from '#kubernetes/models/service.ts';
import { formatIp, lastAddress, parseCidr } from '#models/ip.ts';

export interface CompletedService {
  readonly service: Service;
  /** Addresses and ports that only the cluster can choose, in sentences. */
  readonly notes: readonly string[];
}

/** @param others all services of the cluster */
export function completedService(
  given: Service,
  before: Service | undefined,
  others: Iterable<Service>,
  serviceSubnet: string,
): CompletedService {
  if (given.service_type === 'ExternalName') return { service: given, notes: [] };
  const used = new Set<string | number>();
  for (const { cluster_ip, cluster_ips, port } of others) {
    for (const address of [cluster_ip, ...cluster_ips]) used.add(address);
    for (const { node_port } of port) used.add(node_port);
  }
  const notes: string[] = [];
  const name = `${given.namespace}/${given.name}`;
  let { cluster_ip, cluster_ips } = given;
  if (cluster_ip === '' && before !== undefined) ({ cluster_ip, cluster_ips } = before);
  if (cluster_ip === '') {
    cluster_ip = freeAddress(serviceSubnet, used);
    notes.push(`the cluster chooses the address of service ${name}; ${cluster_ip} stands for it`);
  }
  const port = given.port.map((one) => {
    if (one.node_port !== 0 || !hasNodePorts(given)) return one;
    const known = before?.port.find(({ name: other }) => other === one.name)?.node_port ?? 0;
    const node_port = known === 0 ? freeNodePort(used) : known;
    used.add(node_port);
    if (known === 0)
      notes.push(`the cluster chooses a node port of service ${name}; ${node_port} stands for it`);
    return { ...one, node_port };
  });
  const { lb_ingress_ips, lb_proxy_ips } =
    given.lb_ingress_ips.length > 0 ? given : (before ?? given);
  return {
    service: { ...given, cluster_ip, cluster_ips, port, lb_ingress_ips, lb_proxy_ips },
    notes,
  };
}

function hasNodePorts({ service_type }: Service): boolean {
  return service_type === 'NodePort' || service_type === 'LoadBalancer';
}

/** From the end: the cluster chooses among the first ones. Empty: there is none. */
function freeAddress(subnet: string, used: ReadonlySet<string | number>): string {
  const cidr = parseCidr(subnet);
  if (cidr === undefined) return '';
  const bytes = Uint8Array.from(lastAddress(cidr));
  const last = bytes.length - 1;
  while ((bytes[last] ?? 0) > 1) {
    bytes[last] = (bytes[last] ?? 0) - 1;
    const address = formatIp(bytes);
    if (!used.has(address)) return address;
  }
  return '';
}

const LAST_NODE_PORT = 32_767;
const FIRST_NODE_PORT = 30_000;

function freeNodePort(used: ReadonlySet<string | number>): number {
  for (let port = LAST_NODE_PORT; port >= FIRST_NODE_PORT; port--) if (!used.has(port)) return port;
  return 0;
}

export function selects({ selector, namespace, service_type }: Service, pod: Pod): boolean {
  const entries = Object.entries(selector);
  return (
    service_type !== 'ExternalName' &&
    entries.length > 0 &&
    namespace === pod.namespace &&
    entries.every(([key, value]) => pod.labels[key] === value)
  );
}

/**
 * The endpoints that the cluster would make. Records of pods do not say whether a pod is ready: known endpoints
 * stay as they are, others are ready.
 * @param before undefined: there are none yet
 * @param nodeAt name of the node with an address
 */
export function endpointsOf(
  service: Service,
  pods: Iterable<Pod>,
  before: Endpoints | undefined,
  nodeAt: (address: string) => string | undefined,
): Endpoints {
  const known = new Map<string, { readonly address: EndpointAddress; readonly isReady: boolean }>();
  for (const { addresses, not_ready_addresses } of before?.endpoint_subsets ?? []) {
    for (const address of not_ready_addresses) known.set(address.ip, { address, isReady: false });
    for (const address of addresses) known.set(address.ip, { address, isReady: true });
  }
  const subsets = [...pods].flatMap((pod) => {
    const ports = service.port.flatMap((port) => endpointPort(port, pod));
    if (pod.ip_address === '' || !selects(service, pod) || ports.length === 0) return [];
    const { address, isReady } = known.get(pod.ip_address) ?? {
      address: {
        ip: pod.ip_address,
        node_name: nodeAt(pod.host_ip_address) ?? '',
        target_ref: { kind: 'Pod', namespace: pod.namespace, name: pod.name, uid: pod.uid },
      },
      isReady: true,
    };
    return [isReady ? { addresses: [address], ports } : { not_ready_addresses: [address], ports }];
  });
  const { name, namespace } = service;
  return endpointsModel.canonical({ name, namespace, endpoint_subsets: subsets });
}

function endpointPort(
  { name, protocol, port, target_port }: ServicePort,
  pod: Pod,
): EndpointPort[] {
  if (target_port?.type !== 'STRING')
    return [{ name, protocol, port: target_port?.int_val || port }];
  for (const container of pod.container)
    for (const one of container.port)
      if (one.name === target_port.string_val && one.protocol === protocol)
        return [{ name, protocol, port: one.container_port }];
  return [];
}
