/** Settings that other plugins use, as plain values. */

export interface InterfaceConfig {
  readonly mtu: number;
  readonly useTap: boolean;
  /** 0: VPP's default. */
  readonly tapRxRingSize: number;
  readonly tapTxRingSize: number;
  readonly rxMode: 'DEFAULT' | 'POLLING' | 'INTERRUPT' | 'ADAPTIVE';
  readonly enableGso: boolean;
}

export interface RoutingConfig {
  readonly mainVrf: number;
  readonly podVrf: number;
  readonly transport: 'vxlan' | 'nooverlay' | 'wireguard';
  readonly routeServiceCidrToVpp: boolean;
}

export interface WireguardConfig {
  readonly port: number;
  /** Minutes; 0: keys are replaced only by command. */
  readonly keyLifetime: number;
  /** Nodes that have published no key are reached by VXLAN. */
  readonly clearText: boolean;
}

export interface IpamConfig {
  readonly useExternalIpam: boolean;
  /** Each one CIDR, or one of each family with a comma between them; empty when not set. */
  readonly contivCidr: string;
  readonly serviceCidr: string;
  readonly nodeInterconnectDhcp: boolean;
  readonly nodeInterconnectCidr: string;
  readonly podSubnetCidr: string;
  readonly podSubnetOneNodePrefixLen: number;
  /** 0: not set, see `nodePrefixLength`. */
  readonly podSubnetOneNodePrefixLenIpv4: number;
  readonly podSubnetOneNodePrefixLenIpv6: number;
  readonly vppHostSubnetCidr: string;
  readonly vppHostSubnetOneNodePrefixLen: number;
  readonly vppHostSubnetOneNodePrefixLenIpv4: number;
  readonly vppHostSubnetOneNodePrefixLenIpv6: number;
  readonly vxlanCidr: string;
  readonly defaultGateway: string;
}

export interface NeighborScanConfig {
  readonly scan: boolean;
  /** Minutes. */
  readonly interval: number;
  readonly staleThreshold: number;
}

export interface NodeInterfaceConfig {
  readonly name: string;
  /** CIDRs. */
  readonly addresses: readonly string[];
  readonly useDhcp: boolean;
}

/** The interface towards the other nodes. With DHCP its addresses are of IPv6, and that of IPv4 is leased. */
export interface MainInterfaceConfig extends Omit<NodeInterfaceConfig, 'name'> {
  /** undefined: there is no NIC; a loopback replaces it. */
  readonly name: string | undefined;
}

/** A NIC that VPP took over from the host (STN): the host is reachable only through VPP. */
export interface StnConfig {
  /** Name in the host; empty: the first one. */
  readonly interfaceName: string;
  /** How VPP punts packets to the host: 1 by an STN rule, 2 by a punt redirect. */
  readonly version: 1 | 2;
  /** Routes through gateways that the host had on it; gateways without prefix length. */
  readonly routes: readonly { readonly destination: string; readonly gateway: string }[];
}
