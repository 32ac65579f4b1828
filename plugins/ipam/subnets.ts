/**
 * Division of the cluster's address space among nodes and purposes: a pure function of the
 * configuration and the node ID, so that all nodes compute the same plan without communication.
 */
import { errorText } from '#infra/errors/errors.ts';
import type { IpFamily } from '#models/ip.ts';
import { addressList, type IpamConfig, nodePrefixLength } from '#plugins/contivconf/api.ts';
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
type DividedSubnet = Parameters<typeof nodePrefixLength>[1];

const GATEWAY_INDEX = 1n;
const HOST_LINK_VPP_INDEX = 1n;
const HOST_LINK_LINUX_INDEX = 2n;

/** The subnets of the whole cluster in one family. */
export interface FamilySubnets {
  readonly family: IpFamily;
  readonly pods: Prefix;
  readonly podsOneNode: number;
  readonly vppHost: Prefix;
  readonly vppHostOneNode: number;
  /** undefined: no service has an address of the family. */
  readonly services: Prefix | undefined;
}

/** The subnets of the whole cluster. */
export interface ClusterSubnets {
  /** Those of the pods: of one or two families, the primary one first. */
  readonly families: readonly [FamilySubnets, ...FamilySubnets[]];
  /** Of one or two families, which may differ from those of the pods; empty: node addresses have another source (DHCP, per-node configuration). */
  readonly nodes: readonly Prefix[];
  /** Without an overlay its families may differ from those of the pods. */
  readonly vxlan: readonly Prefix[];
}

/** @throws AddressPlanError naming the key of the configuration */
export function clusterSubnets(config: IpamConfig): ClusterSubnets {
  const given = config.contivCidr === '' ? configuredSubnets(config) : subnetsOfContivCidr(config);
  for (const family of given.families) checkDivisions(config, given.families[0], family);
  return given;
}

/** Each subnet must have an address for at least one node; otherwise the plan is rejected. */
function checkDivisions(
  config: IpamConfig,
  primary: FamilySubnets,
  { family, pods, podsOneNode, vppHost, vppHostOneNode }: FamilySubnets,
): void {
  const keyOf = (subnet: DividedSubnet): string =>
    nodePrefixLength(config, subnet, family, family === primary.family).key;
  subnet(pods, podsOneNode, 0n, keyOf('podSubnet'));
  subnet(vppHost, vppHostOneNode, 0n, keyOf('vppHostSubnet'));
  if (addressBits(pods.family) - podsOneNode < MIN_POD_BITS)
    throw new AddressPlanError(
      `leaves no addresses for pods: at least ${MIN_POD_BITS} host bits are required`,
      { where: keyOf('podSubnet') },
    );
  if (addressBits(vppHost.family) - vppHostOneNode < 2)
    throw new AddressPlanError(
      'leaves no addresses for both ends of the link: at least 2 host bits are required',
      { where: keyOf('vppHostSubnet') },
    );
}

/** One network, or one of each family. */
function prefixes(text: string, where: string): Prefix[] {
  return addressList(text).map((one) => parsePrefix(one, where));
}

function configuredSubnets(config: IpamConfig): ClusterSubnets {
  const vppHost = prefixes(config.vppHostSubnetCidr, 'vppHostSubnetCIDR');
  const services = prefixes(config.serviceCidr, 'serviceCIDR');
  const families = prefixes(config.podSubnetCidr, 'podSubnetCIDR').map(
    (pods, at): FamilySubnets => {
      const { family } = pods;
      const lengthOf = (one: DividedSubnet): number =>
        nodePrefixLength(config, one, family, at === 0).length;
      return {
        family,
        pods,
        podsOneNode: lengthOf('podSubnet'),
        vppHost: ofFamily(vppHost, family, 'vppHostSubnetCIDR'),
        vppHostOneNode: lengthOf('vppHostSubnet'),
        services: services.find((one) => one.family === family),
      };
    },
  );
  return {
    families: someFamilies(families, 'podSubnetCIDR'),
    nodes: prefixes(config.nodeInterconnectCidr, 'nodeInterconnectCIDR'),
    vxlan: prefixes(config.vxlanCidr, 'vxlanCIDR'),
  };
}

function ofFamily(networks: readonly Prefix[], family: IpFamily, where: string): Prefix {
  const found = networks.find((one) => one.family === family);
  if (!found) throw new AddressPlanError(`has no network of IPv${family}`, { where });
  return found;
}

function someFamilies(
  families: readonly FamilySubnets[],
  where: string,
): ClusterSubnets['families'] {
  const [first, ...more] = families;
  if (!first) throw new AddressPlanError('has no network such as 10.1.0.0/16', { where });
  return [first, ...more];
}

/** One network, divided: 16 bits for pods, 16 for the links to the hosts, 9 each for the others. */
function subnetsOfContivCidr(config: IpamConfig): ClusterSubnets {
  const where = 'contivCIDR';
  const services = prefixes(config.serviceCidr, 'serviceCIDR');
  const all = prefixes(config.contivCidr, where);
  const families = all.map((whole): FamilySubnets => {
    if (hostBits(whole) < 18)
      throw new AddressPlanError(
        `${prefixText(whole)} is too small: at least 18 host bits are required`,
        { where },
      );
    const bits = addressBits(whole.family);
    return {
      family: whole.family,
      pods: subnet(whole, bits - 16, 0n, where),
      podsOneNode: bits - 7,
      vppHost: subnet(whole, bits - 16, 1n, where),
      vppHostOneNode: bits - 7,
      services: services.find(({ family }) => family === whole.family),
    };
  });
  const nodes = prefixes(config.nodeInterconnectCidr, 'nodeInterconnectCIDR');
  const part = (index: bigint): Prefix[] =>
    all.map((whole) => subnet(whole, addressBits(whole.family) - 9, index, where));
  return {
    families: someFamilies(families, where),
    nodes: nodes.length > 0 || config.nodeInterconnectDhcp ? nodes : part(256n),
    vxlan: part(257n),
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

export function podSubnetOfNode({ pods, podsOneNode }: FamilySubnets, nodeId: number): Prefix {
  return nodeSubnet(pods, podsOneNode, nodeId, 'podSubnetCIDR');
}

export function vppHostSubnetOfNode(
  { vppHost, vppHostOneNode }: FamilySubnets,
  nodeId: number,
): Prefix {
  return nodeSubnet(vppHost, vppHostOneNode, nodeId, 'vppHostSubnetCIDR');
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
 * Addresses of a node in the networks between the nodes as CIDRs; empty if none is configured.
 * @param gateways addresses without prefix length, at most one of each family, that no node may use: each shifts
 *   all addresses of its network from it on by one
 */
export function nodeAddresses(
  { nodes }: Pick<ClusterSubnets, 'nodes'>,
  nodeId: number,
  gateways: readonly string[],
): readonly string[] {
  const excluded = gateways.map(parseAddress);
  return nodes.map((network) => {
    const where = 'nodeInterconnectCIDR';
    let value = nodeHost(network, nodeId, where);
    const gateway = excluded.find((one) => one?.family === network.family);
    if (gateway && gateway.value <= value) value += 1n;
    if (!contains(network, network.family, value))
      throw new AddressPlanError(`${prefixText(network)} has no address for node ${nodeId}`, {
        where,
      });
    return `${addressText(network.family, value)}/${network.length}`;
  });
}

/**
 * Why a node with this ID cannot have all its addresses; undefined if it can. The last address of an
 * IPv4 network is its broadcast address.
 * @param gateways see `nodeAddresses`
 */
export function whyNoAddresses(
  cluster: ClusterSubnets,
  nodeId: number,
  gateways: readonly string[],
): string | undefined {
  let shared: readonly (readonly [
    where: string,
    networks: readonly Prefix[],
    addresses: readonly string[],
  ])[];
  try {
    for (const family of cluster.families) {
      podSubnetOfNode(family, nodeId);
      vppHostSubnetOfNode(family, nodeId);
    }
    shared = [
      ['nodeInterconnectCIDR', cluster.nodes, nodeAddresses(cluster, nodeId, gateways)],
      ['vxlanCIDR', cluster.vxlan, cluster.vxlan.map((one) => vxlanAddress(one, nodeId))],
    ];
  } catch (thrown) {
    return errorText(thrown);
  }
  for (const [where, networks, addresses] of shared)
    for (const [at, network] of networks.entries()) {
      if (network.family !== 4 || hostBits(network) < 2) continue;
      const cidr = addresses[at]!;
      if (parseAddress(cidr.split('/')[0]!)?.value === lastAddress(network))
        return `${where}: its address ${cidr} is the broadcast address`;
    }
  return undefined;
}

/** Address of a node in a network of the VXLAN overlay, as CIDR. */
export function vxlanAddress(network: Prefix, nodeId: number): string {
  const value = nodeHost(network, nodeId, 'vxlanCIDR');
  return `${addressText(network.family, value)}/${network.length}`;
}

/** ID of the node that owns a pod address; undefined for any other address. */
export function nodeIdOfPodAddress(cluster: ClusterSubnets, address: string): number | undefined {
  return nodeIdIn(
    cluster.families.map(({ pods, podsOneNode }) => [pods, podsOneNode]),
    address,
  );
}

/** ID of the node that has the link between VPP and its host with an address; undefined for any other address. */
export function nodeIdOfHostLink(cluster: ClusterSubnets, address: string): number | undefined {
  return nodeIdIn(
    cluster.families.map(({ vppHost, vppHostOneNode }) => [vppHost, vppHostOneNode]),
    address,
  );
}

/** @param divided networks, each with the prefix length of the part that one node has */
function nodeIdIn(
  divided: readonly (readonly [network: Prefix, oneNode: number])[],
  address: string,
): number | undefined {
  const parsed = parseAddress(address);
  const found = divided.find(
    ([network]) => parsed && contains(network, parsed.family, parsed.value),
  );
  if (!parsed || !found) return undefined;
  const [network, oneNode] = found;
  const part = (parsed.value - network.base) >> BigInt(addressBits(network.family) - oneNode);
  // subnet number 0 belongs to the highest possible ID
  return Number(part === 0n ? 1n << BigInt(oneNode - network.length) : part);
}
