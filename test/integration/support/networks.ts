/** The networks of a cluster by the family of its pods. etcd is always reached by IPv4. */

export interface Networks {
  /** A machine on the network of the VPPs that is not a node, with prefix length. */
  readonly outside: { readonly address: string; readonly length: number };
  /** Management address of the n-th host, with prefix length. */
  readonly host: (n: number) => { readonly address: string; readonly length: number };
  readonly ipamConfig: Readonly<Record<string, unknown>>;
  /** Pod subnet of a node, by ID. */
  readonly pods: (id: number) => string;
  /** Address of the host on its link to VPP, by node ID. */
  readonly hostLink: (id: number) => string;
  /** CLI command that shows a table of VPP, and the pattern of pod subnets in its output. */
  readonly fib: (table: number) => string;
  readonly podsInFib: RegExp;
  /** Of the other family, with both. */
  readonly second?: Networks;
}

export const networks: Readonly<Record<4 | 6, Networks>> = {
  4: {
    outside: { address: '192.168.16.200', length: 24 },
    host: (n) => ({ address: `192.0.2.${10 + n}`, length: 24 }),
    ipamConfig: { nodeInterconnectCIDR: '192.168.16.0/24' },
    pods: (id) => `10.1.${id}.0/24`,
    hostLink: (id) => `172.30.${id}.2`,
    fib: (table) => `show ip fib table ${table}`,
    podsInFib: /^10\.1\.(\d+)\.0\/24/gm,
  },
  6: {
    outside: { address: 'fd16::200', length: 64 },
    host: (n) => ({ address: `fd19::1${n}`, length: 64 }),
    ipamConfig: {
      nodeInterconnectCIDR: 'fd16::/64',
      podSubnetCIDR: 'fd01::/48',
      podSubnetOneNodePrefixLen: 64,
      vppHostSubnetCIDR: 'fd02::/48',
      vppHostSubnetOneNodePrefixLen: 64,
      vxlanCIDR: 'fd04::/64',
      serviceCIDR: 'fd05::/108',
    },
    pods: (id) => `fd01:0:0:${id}::/64`,
    hostLink: (id) => `fd02:0:0:${id}::2`,
    fib: (table) => `show ip6 fib table ${table}`,
    podsInFib: /^fd01:0:0:(\d+)::\/64/gm,
  },
};

/** Subnets of both families, those of the first one first; the other functions are those of the first one. */
export function bothFamilies(first: 4 | 6): Networks {
  const second = first === 4 ? 6 : 4;
  const one = networks[first];
  const other = networks[second];
  const lists = {
    nodeInterconnectCIDR: both('192.168.16.0/24', 'fd16::/64'),
    podSubnetCIDR: both('10.1.0.0/16', 'fd01::/48'),
    vppHostSubnetCIDR: both('172.30.0.0/16', 'fd02::/48'),
    vxlanCIDR: both('192.168.30.0/24', 'fd04::/64'),
    serviceCIDR: both('10.96.0.0/12', 'fd05::/108'),
  };
  function both(ipv4: string, ipv6: string): string {
    return first === 4 ? `${ipv4},${ipv6}` : `${ipv6},${ipv4}`;
  }
  return {
    ...one,
    ipamConfig: {
      ...lists,
      podSubnetOneNodePrefixLenIPv4: 24,
      podSubnetOneNodePrefixLenIPv6: 64,
      vppHostSubnetOneNodePrefixLenIPv4: 24,
      vppHostSubnetOneNodePrefixLenIPv6: 64,
    },
    second: other,
  };
}
