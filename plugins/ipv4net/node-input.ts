import { formatIp, type IpFamily, ipFamily, parseCidr, parseIp } from '#models/ip.ts';
import type {
  InterfaceConfig,
  MainInterfaceConfig,
  NeighborScanConfig,
  NodeInterfaceConfig,
  RoutingConfig,
  StnConfig,
} from '#plugins/contivconf/api.ts';
import type { HostLink } from '#plugins/controller/api/ports/host.ts';
import type { IpamApi } from '#plugins/ipam/api.ts';

/** The part of the address plan that the wiring asks for. */
export type AddressPlan = Omit<IpamApi, 'allocations' | 'podAddresses' | 'natLoopback'>;

/** All that the wiring of this node derives from; fixed between two resyncs. */
export interface NodeInput {
  /** Family of the pods' addresses. */
  readonly family: IpFamily;
  readonly nodeId: number;
  readonly interfaces: InterfaceConfig;
  readonly routing: RoutingConfig;
  readonly neighborScan: NeighborScanConfig;
  /** With the addresses that it shall really have. */
  readonly main: MainInterfaceConfig;
  readonly others: readonly NodeInterfaceConfig[];
  /** Plain, with DHCP the one of the lease; empty when there is none. */
  readonly defaultGateway: string;
  /** undefined: the host keeps its NICs. */
  readonly stn: StnConfig | undefined;
  /** Pods get their addresses from outside, which need not lie in the network of this node. */
  readonly externalIpam: boolean;
  /** Plain, of the pods' family. */
  readonly hostAddresses: readonly string[];
  readonly addresses: AddressPlan;
  /** Whether IPv6 is switched on inside the pods, also where their own address is of IPv4. */
  readonly ipv6InPods: boolean;
}

/** Address of this node towards the others, plain; undefined while there is none. */
export function nodeIp(input: NodeInput): string | undefined {
  const [first] = input.main.addresses;
  return first === undefined ? undefined : withoutPrefixLength(first);
}

/** `10.1.1.2/24` without the prefix length. */
export function withoutPrefixLength(cidr: string): string {
  return cidr.slice(0, cidr.indexOf('/'));
}

/** Prefix length of a CIDR. */
export function prefixLength(cidr: string): string {
  return cidr.slice(cidr.indexOf('/') + 1);
}

/** Family of a plain address or CIDR; undefined for what is neither. */
export function familyOf(text: string): IpFamily | undefined {
  const bytes = parseIp(text) ?? parseCidr(text)?.address;
  return bytes && ipFamily(bytes);
}

/** A plain address as the network of itself alone. */
export function hostNetwork(address: string): string {
  return `${address}/${address.includes(':') ? 128 : 32}`;
}

export function anyNetwork(family: IpFamily): string {
  return family === 4 ? '0.0.0.0/0' : '::/0';
}

export function anyAddress(family: IpFamily): string {
  return family === 4 ? '0.0.0.0' : '::';
}

/** Links that are not the host's own: a route to them through VPP would lead astray. */
const nonHostLinkPrefixes = ['lo', 'docker', 'virbr', 'vpp'];

export function isHostLink({ name }: HostLink): boolean {
  return !nonHostLinkPrefixes.some((prefix) => name.startsWith(prefix));
}

/** Addresses of the links of one family, sorted. */
export function hostAddressesOf(links: readonly HostLink[], family: IpFamily): string[] {
  const own = new Set<string>();
  for (const { addresses } of links) {
    for (const address of addresses) {
      const bytes = parseCidr(address, 'bare')?.address;
      if (bytes && ipFamily(bytes) === family) own.add(formatIp(bytes));
    }
  }
  return [...own].sort();
}
