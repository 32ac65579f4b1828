/**
 * Division of the cluster's address space among nodes and purposes: a pure function of the
 * configuration and the node ID, so that all nodes compute the same plan without communication.
 */
import { errorText } from '#infra/errors/errors.ts';
import type { IpamConfig } from '#plugins/contivconf/api.ts';
import {
  AddressPlanError,
  addressBits,
  addressText,
  contains,
  host,
  hostBits,
  lastAddress,
  type Prefix,
  parseAddress,
  parsePrefix,
  prefixText,
  subnet,
} from './prefix.ts';

/** Host bits for network, gateway, NAT loopback, broadcast, and pods. */
export const MIN_POD_BITS = 3;
const GATEWAY_INDEX = 1n;
const HOST_LINK_VPP_INDEX = 1n;
const HOST_LINK_LINUX_INDEX = 2n;

/** The subnets of the whole cluster. */
export interface ClusterSubnets {
  readonly pods: Prefix;
  readonly podsOneNode: number;
  readonly vppHost: Prefix;
  readonly vppHostOneNode: number;
  /** undefined: node addresses have another source (DHCP, per-node configuration). */
  readonly nodes: Prefix | undefined;
  readonly vxlan: Prefix;
  readonly services: Prefix;
}

/** @throws AddressPlanError naming the key of the configuration */
export function clusterSubnets(config: IpamConfig): ClusterSubnets {
  const given = config.contivCidr === '' ? configuredSubnets(config) : subnetsOfContivCidr(config);
  // each subnet must have an address for at least one node; otherwise the plan is rejected
  subnet(given.pods, given.podsOneNode, 0n, 'podSubnetOneNodePrefixLen');
  subnet(given.vppHost, given.vppHostOneNode, 0n, 'vppHostSubnetOneNodePrefixLen');
  if (addressBits(given.pods.family) - given.podsOneNode < MIN_POD_BITS)
    throw new AddressPlanError(
      `leaves no addresses for pods: at least ${MIN_POD_BITS} host bits are required`,
      {
        where: 'podSubnetOneNodePrefixLen',
      },
    );
  if (addressBits(given.vppHost.family) - given.vppHostOneNode < 2)
    throw new AddressPlanError(
      'leaves no addresses for both ends of the link: at least 2 host bits are required',
      {
        where: 'vppHostSubnetOneNodePrefixLen',
      },
    );
  return given;
}

function optional(text: string, where: string): Prefix | undefined {
  return text === '' ? undefined : parsePrefix(text, where);
}

function configuredSubnets(config: IpamConfig): ClusterSubnets {
  return {
    pods: parsePrefix(config.podSubnetCidr, 'podSubnetCIDR'),
    podsOneNode: config.podSubnetOneNodePrefixLen,
    vppHost: parsePrefix(config.vppHostSubnetCidr, 'vppHostSubnetCIDR'),
    vppHostOneNode: config.vppHostSubnetOneNodePrefixLen,
    nodes: optional(config.nodeInterconnectCidr, 'nodeInterconnectCIDR'),
    vxlan: parsePrefix(config.vxlanCidr, 'vxlanCIDR'),
    services: parsePrefix(config.serviceCidr, 'serviceCIDR'),
  };
}

/** One network, divided: 16 bits for pods, 16 for the links to the hosts, 9 each for the others. */
function subnetsOfContivCidr(config: IpamConfig): ClusterSubnets {
  const where = 'contivCIDR';
  const all = parsePrefix(config.contivCidr, where);
  if (hostBits(all) < 18)
    throw new AddressPlanError(
      `${prefixText(all)} is too small: at least 18 host bits are required`,
      {
        where,
      },
    );
  const bits = addressBits(all.family);
  const nodes = optional(config.nodeInterconnectCidr, 'nodeInterconnectCIDR');
  return {
    pods: subnet(all, bits - 16, 0n, where),
    podsOneNode: bits - 7,
    vppHost: subnet(all, bits - 16, 1n, where),
    vppHostOneNode: bits - 7,
    nodes: nodes ?? (config.nodeInterconnectDhcp ? undefined : subnet(all, bits - 9, 256n, where)),
    vxlan: subnet(all, bits - 9, 257n, where),
    services: parsePrefix(config.serviceCidr, 'serviceCIDR'),
  };
}

/** The subnet of a node in a network; the highest ID has subnet number 0. */
function nodeSubnet(base: Prefix, length: number, nodeId: number, where: string): Prefix {
  const parts = 1n << BigInt(Math.max(0, length - base.length));
  const id = BigInt(nodeId);
  return subnet(base, length, id === parts ? 0n : id, where);
}

/** The address of a node in a network that all nodes share. */
function nodeHost(base: Prefix, nodeId: number, where: string): bigint {
  const id = BigInt(nodeId);
  if (id < 1n || id >= 1n << BigInt(hostBits(base)))
    throw new AddressPlanError(`${prefixText(base)} has no address for node ${nodeId}`, { where });
  return host(base, id, where);
}

export function podSubnetOfNode(cluster: ClusterSubnets, nodeId: number): Prefix {
  return nodeSubnet(cluster.pods, cluster.podsOneNode, nodeId, 'podSubnetCIDR');
}

export function vppHostSubnetOfNode(cluster: ClusterSubnets, nodeId: number): Prefix {
  return nodeSubnet(cluster.vppHost, cluster.vppHostOneNode, nodeId, 'vppHostSubnetCIDR');
}

export function podGateway(podSubnet: Prefix): bigint {
  return host(podSubnet, GATEWAY_INDEX, 'podSubnetCIDR');
}

/** The last but one address of the pod subnet: source address of a pod that connects to its own service. */
export function natLoopback(podSubnet: Prefix): bigint {
  return lastAddress(podSubnet) - 1n;
}

/** The first and the last address that a pod can have. */
export function podRange(podSubnet: Prefix): { first: bigint; last: bigint } {
  return { first: podGateway(podSubnet) + 1n, last: natLoopback(podSubnet) - 1n };
}

/** Both ends of the link between VPP and the host. */
export function hostLink(vppHostSubnet: Prefix): { vpp: bigint; linux: bigint } {
  return {
    vpp: host(vppHostSubnet, HOST_LINK_VPP_INDEX, 'vppHostSubnetCIDR'),
    linux: host(vppHostSubnet, HOST_LINK_LINUX_INDEX, 'vppHostSubnetCIDR'),
  };
}

/**
 * Address of a node in the network between the nodes as CIDR; undefined if none is configured.
 * @param gateway address without prefix length that no node may use: it shifts all addresses from it
 *   on by one
 */
export function nodeAddress(
  cluster: ClusterSubnets,
  nodeId: number,
  gateway: string,
): string | undefined {
  const { nodes } = cluster;
  if (!nodes) return undefined;
  const where = 'nodeInterconnectCIDR';
  let value = nodeHost(nodes, nodeId, where);
  const excluded = parseAddress(gateway);
  if (excluded && excluded.family === nodes.family && excluded.value <= value) value += 1n;
  if (!contains(nodes, nodes.family, value))
    throw new AddressPlanError(`${prefixText(nodes)} has no address for node ${nodeId}`, { where });
  return `${addressText(nodes.family, value)}/${nodes.length}`;
}

/**
 * Why a node with this ID cannot have all its addresses; undefined if it can. The last address of an
 * IPv4 network is its broadcast address.
 * @param gateway see `nodeAddress`
 */
export function whyNoAddresses(
  cluster: ClusterSubnets,
  nodeId: number,
  gateway: string,
): string | undefined {
  const shared: [string, Prefix | undefined, string | undefined][] = [];
  try {
    podSubnetOfNode(cluster, nodeId);
    vppHostSubnetOfNode(cluster, nodeId);
    shared.push(
      ['nodeInterconnectCIDR', cluster.nodes, nodeAddress(cluster, nodeId, gateway)],
      ['vxlanCIDR', cluster.vxlan, vxlanAddress(cluster, nodeId)],
    );
  } catch (thrown) {
    return errorText(thrown);
  }
  for (const [where, network, cidr] of shared) {
    if (network?.family !== 4 || hostBits(network) < 2) continue;
    if (parseAddress(cidr!.split('/')[0]!)?.value === lastAddress(network))
      return `${where}: its address ${cidr} is the broadcast address`;
  }
  return undefined;
}

/** Address of a node in the VXLAN overlay, as CIDR. */
export function vxlanAddress(cluster: ClusterSubnets, nodeId: number): string {
  const value = nodeHost(cluster.vxlan, nodeId, 'vxlanCIDR');
  return `${addressText(cluster.vxlan.family, value)}/${cluster.vxlan.length}`;
}

/** ID of the node that owns a pod address; undefined for any other address. */
export function nodeIdOfPodAddress(cluster: ClusterSubnets, address: string): number | undefined {
  const { pods, podsOneNode } = cluster;
  const parsed = parseAddress(address);
  if (!parsed || !contains(pods, parsed.family, parsed.value)) return undefined;
  const part = (parsed.value - pods.base) >> BigInt(addressBits(pods.family) - podsOneNode);
  // subnet number 0 belongs to the highest possible ID
  return Number(part === 0n ? 1n << BigInt(podsOneNode - pods.length) : part);
}
