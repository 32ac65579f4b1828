/** Addresses of a cluster of one family, and random objects of IPv4 in that family. */
import type { KubeEndpointSlice } from '#kubernetes/reflector/objects/endpoints.ts';
import { type EndpointsInput, slicesOf } from './random-objects.ts';

export interface AddressPlan {
  readonly family: 4 | 6;
  /** Of contiv.conf. */
  readonly yaml: string;
  /** Number of the bits of the network of the nodes. */
  readonly length: number;
  /** Addresses of VPP and host of a node. */
  nodeAddresses(at: number): readonly [vpp: string, host: string];
  /** First and last address of the subnet of the pods of a node. */
  podRange(at: number): readonly [first: string, last: string];
  /** Whether users may not choose the address for their services. */
  isForbidden(address: string): boolean;
}

export const ipv4: AddressPlan = {
  family: 4,
  yaml: 'ipamConfig: {nodeInterconnectCIDR: 192.168.16.0/24}',
  length: 24,
  nodeAddresses: (at) => [`192.168.16.${at}`, `172.16.0.${at}`],
  podRange: (at) => [`10.1.${at}.0`, `10.1.${at}.255`],
  isForbidden: (address) => address.startsWith('10.1.'),
};

export const ipv6: AddressPlan = {
  family: 6,
  yaml: `ipamConfig:
  podSubnetCIDR: fd01::/48
  podSubnetOneNodePrefixLen: 64
  vppHostSubnetCIDR: fd02::/48
  vppHostSubnetOneNodePrefixLen: 64
  nodeInterconnectCIDR: fd03::/64
  vxlanCIDR: fd04::/64
  serviceCIDR: fd05::/108`,
  length: 64,
  nodeAddresses: (at) => [`fd03::${at}`, `fd09::${at}`],
  podRange: (at) => [`fd01:0:0:${at}::`, `fd01:0:0:${at}:ffff:ffff:ffff:ffff`],
  isForbidden: (address) => address.startsWith('fd01:'),
};

/** Beginnings of addresses that correspond. */
const networks = [
  ['10.96.0.', 'fd05::'],
  ['10.97.0.', 'fd00:96::'],
  ['10.1.1.', 'fd01:0:0:1::'],
  ['10.1.2.', 'fd01:0:0:2::'],
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

/**
 * @param kinds families of the endpoints: those of a service may have one or both
 * @returns the slices, with the families of the endpoints in the plan exchanged if it is of IPv6
 */
export function slicesIn(
  { family }: AddressPlan,
  name: string,
  input: EndpointsInput,
  kinds: 'own' | 'other' | 'both',
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
