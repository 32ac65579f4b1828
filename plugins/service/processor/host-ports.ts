/**
 * The host ports of a pod of this node, as a service whose only backend is the pod: each is an address of this node
 * at which clients reach a port of the pod. Clients keep their address, as with the portmap plugin.
 */
import { type Endpoints, endpointsModel } from '#kubernetes/models/endpoints.ts';
import type { Pod, PodContainerPort } from '#kubernetes/models/pod.ts';
import type { KeyNames } from '#kubernetes/resources/resources.ts';
import { type IpFamily, ipFamily, isUnspecified, parseIp, unspecifiedOf } from '#models/ip.ts';
import { familyOfAddress } from '#plugins/ipam/api.ts';
import { whyNoHost } from '#plugins/nodesync/api.ts';
import { hostPortsName } from '../rendered-service.ts';
import { familiesText, type NodeView } from './local-node.ts';
import { type NotRendered, problem, RequestedAddresses } from './requested-addresses.ts';
import type { ServiceSpec } from './service-spec.ts';

/** undefined: the pod has no host port, or it is not one of this node with an address in the pod network. */
export function hostPortsSpec(id: KeyNames, pod: Pod, node: NodeView): ServiceSpec | undefined {
  const ports = hostPortsOf(pod);
  if (ports.length === 0 || localAddresses(pod, node).length === 0) return undefined;
  const addresses = new RequestedAddresses(node);
  for (const port of ports) addPort(addresses, port, pod, node);
  return {
    name: hostPortsName(id),
    // records of pods have no time of creation
    created: '',
    addresses: [...addresses.requested.values()],
    unrendered: addresses.unrendered,
    whyNot: undefined,
    problems: [],
    internalPolicy: 'Local',
    externalPolicy: 'Local',
    affinityTimeout: 0,
    loadBalancerClients: new Map(),
    familiesOutside: node.familiesOutside,
    healthCheckPort: 0,
  };
}

/** The pod as the endpoint of its host ports. A pod is reached as soon as it runs, whether it is ready or not. */
export function hostPortsEndpoints(id: KeyNames, pod: Pod, node: NodeView): Endpoints {
  return endpointsModel.canonical({
    endpoint_subsets: [
      {
        addresses: localAddresses(pod, node).map((ip) => ({
          ip,
          node_name: node.name,
          target_ref: { kind: 'Pod', ...id },
        })),
        ports: hostPortsOf(pod).map((port) => ({
          name: portName(port),
          protocol: port.protocol,
          port: port.container_port,
        })),
      },
    ],
  });
}

function hostPortsOf({ container }: Pod): PodContainerPort[] {
  return container.flatMap(({ port }) => port.filter(({ host_port }) => host_port !== 0));
}

/** Containers of a pod may give two ports one name. */
function portName({ container_port }: PodContainerPort): string {
  return String(container_port);
}

/** A pod in the network of its host has an address that is not one of pods. */
function localAddresses(pod: Pod, node: NodeView): string[] {
  const all = [pod.ip_address, ...pod.ip_addresses].filter((text) => {
    const bytes = parseIp(text);
    if (bytes === undefined || !node.families.includes(ipFamily(bytes))) return false;
    const { isLocal, place } = node.locate(bytes, text, '');
    return isLocal && place === 'pod';
  });
  return [...new Set(all)];
}

function addPort(
  addresses: RequestedAddresses,
  port: PodContainerPort,
  pod: Pod,
  node: NodeView,
): void {
  const { host_port, host_ip_address: hostIp, protocol } = port;
  const request = {
    kind: 'host-port',
    portName: portName(port),
    port: host_port,
    protocol,
  } as const;
  const families = new Set(localAddresses(pod, node).map(familyOfAddress));
  const bytes = parseIp(hostIp);
  const isAny = bytes !== undefined && isUnspecified(bytes) && families.has(ipFamily(bytes));
  if (hostIp !== '' && !isAny) {
    addresses.add({ ...request, address: hostIp }, whyNotAddress(hostIp, families, node));
    return;
  }
  for (const address of node.addresses)
    if (hostIp === '' ? families.has(familyOfAddress(address)) : hostIp === unspecifiedOf(address))
      addresses.add({ ...request, address }, undefined);
}

function whyNotAddress(
  hostIp: string,
  families: ReadonlySet<IpFamily>,
  node: NodeView,
): NotRendered | undefined {
  const bytes = parseIp(hostIp);
  if (bytes === undefined) return problem(`"${hostIp}" is not an address`);
  const family = ipFamily(bytes);
  if (!node.families.includes(family))
    return problem(`only ${familiesText(node.families)} is rendered`);
  if (!families.has(family)) return problem(`the pod has no IPv${family} address`);
  if (node.addresses.includes(hostIp)) return undefined;
  // no packet to it leaves the host
  if (whyNoHost(hostIp)?.reason === 'loopback')
    return { reason: 'only the host reaches it', isProblem: false };
  return problem(`${hostIp} is not an address of this node`);
}
