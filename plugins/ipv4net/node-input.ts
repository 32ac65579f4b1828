import {
  contains,
  firstOfFamily,
  formatIp,
  type IpFamily,
  ipFamily,
  parseCidr,
} from '#models/ip.ts';
import type {
  InterfaceConfig,
  MainInterfaceConfig,
  NeighborScanConfig,
  NodeInterfaceConfig,
  RoutingConfig,
  StnConfig,
} from '#plugins/contivconf/api.ts';
import type { KeyValue } from '#plugins/controller/api/key-value.ts';
import type { HostLink } from '#plugins/controller/api/ports/host.ts';
import type { FamilyPlan } from '#plugins/ipam/api.ts';
import type { OwnSlotKey } from './api.ts';

/** The network of the pods and of the host in one family. */
export interface FamilyNetwork {
  readonly family: IpFamily;
  readonly addresses: FamilyPlan;
  /** Of the host, without prefix length. */
  readonly hostAddresses: readonly string[];
}

/** Input of the wiring of this node; constant between two resyncs. */
export interface NodeInput {
  /** Those of the pods: of one family or of both, the primary one first. */
  readonly networks: readonly [FamilyNetwork, ...FamilyNetwork[]];
  readonly nodeId: number;
  readonly interfaces: InterfaceConfig;
  readonly routing: RoutingConfig;
  readonly neighborScan: NeighborScanConfig;
  /** With its effective addresses, those of the primary family first if there are both. */
  readonly main: MainInterfaceConfig;
  /** Those of the main interface that are not from a lease; VPP has them without one, too. */
  readonly configuredAddresses: readonly string[];
  readonly others: readonly NodeInterfaceConfig[];
  /** At most one of each family, without prefix length; with DHCP that of IPv4 is the one of the lease. */
  readonly defaultGateways: readonly string[];
  /** In which families what leaves the cluster gets the address of the node as its source. */
  readonly natFamilies: readonly IpFamily[];
  /** undefined: the host keeps its NICs. */
  readonly stn: StnConfig | undefined;
  /** Pods have addresses of an external IPAM, which may be outside of the pod subnet of this node. */
  readonly externalIpam: boolean;
  /** Names in the kernel of the links that have one of the addresses of the host, sorted. */
  readonly hostLinks: readonly string[];
  /** Whether IPv6 is enabled in the pods, also if their address is IPv4. */
  readonly ipv6InPods: boolean;
  /** undefined: nothing is encrypted. */
  readonly wireguard: WireguardInput | undefined;
}

export interface WireguardInput {
  /** Of the first slot; that of the second one follows it. */
  readonly port: number;
  /** Nodes without a key are reached by VXLAN. */
  readonly clearText: boolean;
  /** Of this node, by slot; empty: they are not known. */
  readonly keys: readonly OwnSlotKey[];
}

/** The input with the network of one family: of it, a function makes the values of this family. */
export type FamilyInput = NodeInput & FamilyNetwork;

/** The values of all families, those of the primary one first. */
export function ofAllFamilies(
  input: NodeInput,
  valuesOf: (input: FamilyInput) => readonly KeyValue[],
): KeyValue[] {
  return familyInputs(input).flatMap(valuesOf);
}

/** One for each family, the primary one first. */
export function familyInputs(input: NodeInput): readonly FamilyInput[] {
  return input.networks.map((network) => ({ ...input, ...network }));
}

/** undefined: the pods have no addresses of this family. */
export function familyInput(input: NodeInput, family: IpFamily): FamilyInput | undefined {
  return familyInputs(input).find((one) => one.family === family);
}

/** Addresses of the host in all families of the pods, without prefix length. */
export function hostAddresses({ networks }: NodeInput): readonly string[] {
  return networks.flatMap((network) => network.hostAddresses);
}

/** Address of this node for other nodes, without prefix length; undefined if there is none. */
export function nodeIp(input: NodeInput): string | undefined {
  const [first] = input.main.addresses;
  return first === undefined ? undefined : withoutPrefixLength(first);
}

/** CIDR of this node in a family; undefined if there is none. */
export function nodeAddress({ main }: NodeInput, family: IpFamily): string | undefined {
  return firstOfFamily(main.addresses, family);
}

/** As `nodeIp`, in one family. */
export function nodeIpOf(input: NodeInput, family: IpFamily): string | undefined {
  const address = nodeAddress(input, family);
  return address === undefined ? undefined : withoutPrefixLength(address);
}

/** `10.1.1.2/24` without the prefix length. */
export function withoutPrefixLength(cidr: string): string {
  return cidr.split('/', 1)[0]!;
}

/** Prefix length of a CIDR. */
export function prefixLength(cidr: string): string {
  return cidr.slice(cidr.indexOf('/') + 1);
}

/** The host network (/32 or /128) of an address. */
export function hostNetwork(address: string): string {
  return `${address}/${address.includes(':') ? 128 : 32}`;
}

/** Whether packets between pods of two nodes have the headers of a tunnel. */
export function hasOverlay({ routing }: Pick<NodeInput, 'routing'>): boolean {
  return routing.transport !== 'nooverlay';
}

/** Whether some nodes are reached by VXLAN. */
export function usesVxlan({ routing, wireguard }: NodeInput): boolean {
  return routing.transport === 'vxlan' || wireguard?.clearText === true;
}

/** Network of the pods that the VRF of the pods reaches. */
export function podNetwork({ addresses, ...input }: FamilyInput): string {
  return hasOverlay(input) ? addresses.podSubnetAllNodes() : addresses.podSubnetThisNode();
}

export function anyNetwork(family: IpFamily): string {
  return family === 4 ? '0.0.0.0/0' : '::/0';
}

export function anyAddress(family: IpFamily): string {
  return family === 4 ? '0.0.0.0' : '::';
}

/**
 * Name prefixes of virtual links: VPP must not route to their addresses. kube-proxy in IPVS mode has every
 * address of every service on `kube-ipvs0`.
 */
const nonHostLinkPrefixes = ['lo', 'docker', 'virbr', 'vpp', 'kube-ipvs'];

export function isHostLink({ name }: HostLink): boolean {
  return !nonHostLinkPrefixes.some((prefix) => name.startsWith(prefix));
}

/**
 * Addresses of the links in one family, sorted. Single addresses in the service subnet are cluster IPs, not
 * addresses of the host: NodeLocal DNSCache has that of the DNS service on its link, beside its own address.
 * @param serviceSubnet empty: none
 */
export function hostAddressesOf(
  links: readonly HostLink[],
  family: IpFamily,
  serviceSubnet: string,
): string[] {
  const services = parseCidr(serviceSubnet);
  const own = new Set<string>();
  for (const { addresses } of links) {
    for (const text of addresses) {
      const cidr = parseCidr(text, 'bare');
      if (cidr === undefined || ipFamily(cidr.address) !== family) continue;
      const isSingle = cidr.length === cidr.address.length * 8;
      if (isSingle && services !== undefined && contains(services, cidr.address)) continue;
      own.add(formatIp(cidr.address));
    }
  }
  return [...own].sort();
}
