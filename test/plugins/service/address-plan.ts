/** Addresses of a cluster of one family or of both, and random objects of IPv4 in its families. */
import type { KubeEndpointSlice } from '#kubernetes/reflector/objects/endpoints.ts';
import { type EndpointsInput, type ServiceObject, slicesOf } from './random-objects.ts';

export interface AddressPlan {
  /** The primary one first. */
  readonly families: readonly (4 | 6)[];
  /** Of contiv.conf. */
  readonly yaml: string;
  /** Addresses of VPP and host of a node, of each family. */
  nodeAddresses(at: number): readonly (readonly [vpp: string, host: string])[];
  /** First and last address of the subnet of the pods of a node, of each family. */
  podRanges(at: number): readonly (readonly [first: string, last: string])[];
  /** Whether users may not choose the address for their services. */
  isForbidden(address: string): boolean;
}

export const ipv4: AddressPlan = {
  families: [4],
  yaml: 'ipamConfig: {nodeInterconnectCIDR: 192.168.16.0/24}',
  nodeAddresses: (at) => [[`192.168.16.${at}`, `172.16.0.${at}`]],
  podRanges: (at) => [[`10.1.${at}.0`, `10.1.${at}.255`]],
  isForbidden: (address) => address.startsWith('10.1.'),
};

export const ipv6: AddressPlan = {
  families: [6],
  yaml: `ipamConfig:
  podSubnetCIDR: fd01::/48
  podSubnetOneNodePrefixLen: 64
  vppHostSubnetCIDR: fd02::/48
  vppHostSubnetOneNodePrefixLen: 64
  nodeInterconnectCIDR: fd03::/64
  vxlanCIDR: fd04::/64
  serviceCIDR: fd05::/108`,
  nodeAddresses: (at) => [[`fd03::${at}`, `fd09::${at}`]],
  podRanges: (at) => [[`fd01:0:0:${at}::`, `fd01:0:0:${at}:ffff:ffff:ffff:ffff`]],
  isForbidden: (address) => address.startsWith('fd01:'),
};

/** IPv4 first, or IPv6. */
export const [ipv4First, ipv6First] = [[ipv4, ipv6] as const, [ipv6, ipv4] as const].map(
  (plans): AddressPlan => {
    const both = (four: string, six: string) =>
      (plans[0] === ipv4 ? [four, six] : [six, four]).join();
    return {
      families: plans.flatMap(({ families }) => families),
      yaml: `ipamConfig:
  podSubnetCIDR: ${both('10.1.0.0/16', 'fd01::/48')}
  podSubnetOneNodePrefixLenIPv4: 24
  podSubnetOneNodePrefixLenIPv6: 64
  vppHostSubnetCIDR: ${both('172.30.0.0/16', 'fd02::/48')}
  vppHostSubnetOneNodePrefixLenIPv4: 24
  vppHostSubnetOneNodePrefixLenIPv6: 64
  nodeInterconnectCIDR: ${both('192.168.16.0/24', 'fd03::/64')}
  vxlanCIDR: ${both('192.168.30.0/24', 'fd04::/64')}
  serviceCIDR: ${both('10.96.0.0/12', 'fd05::/108')}`,
      nodeAddresses: (at) => plans.flatMap((plan) => plan.nodeAddresses(at)),
      podRanges: (at) => plans.flatMap((plan) => plan.podRanges(at)),
      isForbidden: (address) => plans.some((plan) => plan.isForbidden(address)),
    };
  },
) as [AddressPlan, AddressPlan];

/** Beginnings of addresses that correspond. */
const networks = [
  ['10.96.0.', 'fd05::'],
  ['10.97.0.', 'fd00:96::'],
  ['10.1.1.', 'fd01:0:0:1::'],
  ['10.1.2.', 'fd01:0:0:2::'],
  ['10.1.3.', 'fd01:0:0:3::'],
  ['10.20.0.', 'fd0a::'],
  ['172.16.0.', 'fd09::'],
  ['192.168.16.', 'fd03::'],
  ['198.18.0.', 'fd00::'],
  ['198.51.100.', '2001:db8::'],
  ['203.0.113.', '2001:db8:1::'],
] as const;

/** The same for networks, also of no network. */
const ranges = [
  ['192.168.16.200/32', 'fd03::200/128'],
  ['10.1.0.0/16', 'fd01::/48'],
  ['10.1.1.2/31', 'fd01:0:0:1::2/127'],
  ['10.0.0.0/8', 'fd00::/8'],
  ['10.1.0.0/33', 'fd01::/129'],
] as const;

/** The value with each address in the other family. */
export function inOtherFamily<T>(value: T): T {
  if (typeof value === 'string') return otherAddress(value) as T;
  if (Array.isArray(value)) return value.map(inOtherFamily) as T;
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => [name, inOtherFamily(one)]),
  ) as T;
}

function otherAddress(text: string): string {
  for (const [four, six] of ranges)
    if (text === four || text === six) return text === four ? six : four;
  for (const [four, six] of networks)
    for (const [from, to] of [
      [four, six],
      [six, four],
    ] as const)
      if (text.startsWith(from) && /^\d+$/.test(text.slice(from.length)))
        return `${to}${text.slice(from.length)}`;
  return text;
}

/** The primary family of the cluster, the other one, or both. */
export type Families = 'own' | 'other' | 'both';

/** @param kinds families of the service; in a cluster of one family it has that one */
export function serviceIn(
  { families: [primary, second] }: Pick<AddressPlan, 'families'>,
  four: ServiceObject,
  kinds: Families,
): ServiceObject {
  const six = inOtherFamily(four);
  const [own, other] = primary === 4 ? [four, six] : [six, four];
  if (second === undefined || kinds === 'own') return own;
  if (kinds === 'other') return other;
  const both = <T>(of: (one: ServiceObject) => readonly T[]) => [
    ...new Set([...of(own), ...of(other)]),
  ];
  return {
    ...own,
    clusterIPs: both(({ clusterIPs }) => clusterIPs),
    externalIPs: both(({ externalIPs }) => externalIPs),
    ingress: both(({ ingress }) => ingress),
    loadBalancerSourceRanges: both((one) => one.loadBalancerSourceRanges),
  };
}

/**
 * @param kinds families of the endpoints: those of a service may have one or both
 * @returns the slices, with the families of the endpoints in the plan exchanged if its primary one is IPv6
 */
export function slicesIn(
  { families: [family] }: Pick<AddressPlan, 'families'>,
  name: string,
  input: EndpointsInput,
  kinds: Families,
): KubeEndpointSlice[] {
  const four = slicesOf(name, input);
  const six = four.map((slice) => ({
    ...inOtherFamily(slice),
    metadata: { ...slice.metadata, name: `${slice.metadata.name}-6` },
    addressType: 'IPv6' as const,
  }));
  const [own, other] = family === 4 ? [four, six] : [six, four];
  return [...(kinds === 'other' ? [] : own), ...(kinds === 'own' ? [] : other)];
}
