/** The networks of a cluster in each address family, and what they are for. */

export const addressFamilies = ['ipv4', 'ipv6'] as const;
export type AddressFamily = (typeof addressFamilies)[number];

interface Networks {
  /** Of the hosts. @param host number in the network */
  readonly management: (host: number) => string;
  /** That VPPs have for themselves. */
  readonly data: (host: number) => string;
  readonly prefixLength: number;
  /** A host of the Internet, at port 53 over TCP, as a test expects it. */
  readonly internet: string;
  readonly serviceSubnet: string;
  /** Of the cluster's DNS. */
  readonly dns: string;
  /** `ipamConfig` of an agent; that of IPv4 has the values of the chart. */
  readonly ipam: Readonly<Record<string, string>>;
  readonly anyAddress: string;
}

export const networksOf: Readonly<Record<AddressFamily, Networks>> = {
  ipv4: {
    management: (host) => `192.168.100.${host}`,
    data: (host) => `192.168.16.${host}`,
    prefixLength: 24,
    internet: '8.8.8.8',
    serviceSubnet: '10.96.0.0/12',
    dns: '10.96.0.10',
    ipam: {
      podSubnetCIDR: '10.1.0.0/16',
      vppHostSubnetCIDR: '172.30.0.0/16',
      vxlanCIDR: '192.168.30.0/24',
      serviceCIDR: '10.96.0.0/12',
      nodeInterconnectCIDR: '192.168.16.0/24',
    },
    anyAddress: '0.0.0.0',
  },
  ipv6: {
    management: (host) => `fd00:100::${host.toString(16)}`,
    data: (host) => `fd00:16::${host.toString(16)}`,
    prefixLength: 64,
    internet: '2001:4860:4860::8888',
    serviceSubnet: 'fd00:96::/108',
    dns: 'fd00:96::a',
    ipam: {
      podSubnetCIDR: 'fd00:1::/48',
      vppHostSubnetCIDR: 'fd00:172::/48',
      vxlanCIDR: 'fd00:30::/64',
      serviceCIDR: 'fd00:96::/108',
      nodeInterconnectCIDR: 'fd00:16::/64',
    },
    anyAddress: '::',
  },
};

/** For an URL or an address with a port. */
export const bracketed = (address: string): string =>
  address.includes(':') ? `[${address}]` : address;
