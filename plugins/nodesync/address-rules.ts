/**
 * Whether an address from outside may be used. Node objects, Services, EndpointSlices and the records of other
 * agents are untrusted: any node writes its own Node object, and a route for a wrong address cuts off this node or
 * takes over the traffic of another one. The table is in docs/networking.md.
 */
import {
  type Cidr,
  contains,
  formatIp,
  type IpBytes,
  ipFamily,
  isLinkLocalIpv6,
  isUnspecified,
  network,
  parseCidr,
  parseIp,
} from '#models/ip.ts';

/**
 * Uses of an address: the destination of a route to the host of another node, the end of the tunnel to
 * its VPP (without an overlay the next hop), one at which sockets of this node reach node ports, one at which its agent is asked with the
 * credentials of a client, a backend of a service, its cluster IP, or an external address of it.
 */
export const addressUses = [
  'route',
  'tunnel end',
  'node port',
  'agent',
  'endpoint',
  'cluster IP',
  'external address',
] as const;
export type AddressUse = (typeof addressUses)[number];

interface Reason {
  /** Text after the address in a message. */
  readonly phrase: string;
  /** The uses for which it refuses an address. */
  readonly refuses: readonly AddressUse[];
}

/** In the order in which they are looked at. */
export const addressReasons = {
  invalid: { phrase: 'is not an address', refuses: addressUses },
  'without prefix length': { phrase: 'has no prefix length', refuses: ['tunnel end'] },
  unspecified: { phrase: 'is the unspecified address', refuses: addressUses },
  loopback: { phrase: 'is a loopback address', refuses: addressUses },
  multicast: { phrase: 'is a multicast address', refuses: addressUses },
  reserved: { phrase: 'is a reserved address', refuses: addressUses },
  'link-local, IPv6': { phrase: 'is a link-local address', refuses: addressUses },
  'link-local, IPv4': {
    phrase: 'is a link-local address',
    refuses: ['route', 'node port', 'agent', 'endpoint', 'cluster IP', 'external address'],
  },
  'this node': {
    phrase: 'is an address of this node',
    refuses: ['route', 'tunnel end', 'node port', 'agent'],
  },
  gateway: {
    phrase: 'is the default gateway',
    refuses: ['route', 'node port', 'external address'],
  },
  'pod subnet': {
    phrase: 'is in the pod subnet',
    refuses: ['route', 'tunnel end', 'node port', 'agent', 'external address'],
  },
  'service subnet': {
    phrase: 'is in the subnet of services',
    refuses: ['route', 'node port', 'agent'],
  },
  'host link subnet': {
    phrase: 'is in the subnet of the links between VPP and the hosts',
    refuses: ['route', 'node port', 'external address'],
  },
  'VXLAN subnet': {
    phrase: 'is in the VXLAN subnet',
    refuses: ['route', 'node port', 'external address'],
  },
  'end of a tunnel': {
    phrase: 'is the address of the VPP of node',
    refuses: ['route'],
  },
  'another node': { phrase: 'is an address of node', refuses: ['route', 'external address'] },
  'several nodes': { phrase: 'is an address of several other nodes', refuses: ['route'] },
  'beyond the limit': {
    phrase: 'is beyond the addresses that a node may have',
    refuses: ['route', 'tunnel end'],
  },
  'cluster IP of a service': { phrase: 'is the cluster IP of service', refuses: ['endpoint'] },
} as const satisfies Readonly<Record<string, Reason>>;

export type AddressReason = keyof typeof addressReasons;

/** Why an address is not used. */
export interface AddressRefusal {
  readonly reason: AddressReason;
  /** After the address: `is the default gateway`. */
  readonly phrase: string;
}

/** @param owner the other node or service that has the address */
export function addressRefusal(reason: AddressReason, owner?: string): AddressRefusal {
  const { phrase } = addressReasons[reason];
  return { reason, phrase: owner === undefined ? phrase : `${phrase} ${owner}` };
}

function refuses(reason: AddressReason, use: AddressUse): boolean {
  return (addressReasons[reason].refuses as readonly AddressUse[]).includes(use);
}

/** Addresses and subnets that this node uses itself. */
export interface OwnNetwork {
  /** Addresses of the NICs of VPP and of the host, without prefix length. */
  readonly addresses: readonly string[];
  /** Without prefix length. */
  readonly gateways: readonly string[];
  /** CIDRs, one of each family; those that do not exist are absent or empty. */
  readonly subnets: Readonly<Partial<Record<SubnetReason, readonly string[]>>>;
}

const subnetReasons = [
  'pod subnet',
  'service subnet',
  'host link subnet',
  'VXLAN subnet',
] as const satisfies readonly AddressReason[];
type SubnetReason = (typeof subnetReasons)[number];

/** The rules that depend on no other node and no service. */
export class AddressRules {
  readonly #own: ReadonlySet<string>;
  readonly #gateways: readonly string[];
  readonly #subnets: readonly { readonly reason: SubnetReason; readonly cidr: Cidr }[];

  constructor({ addresses, gateways, subnets }: OwnNetwork) {
    this.#own = new Set(addresses);
    this.#gateways = gateways;
    this.#subnets = subnetReasons.flatMap((reason) =>
      (subnets[reason] ?? []).flatMap((text) => {
        const cidr = parseCidr(text);
        return cidr === undefined ? [] : [{ reason, cidr: network(cidr) }];
      }),
    );
  }

  /** @param address undefined: the text is none */
  whyNot(use: AddressUse, address: IpBytes | undefined): AddressRefusal | undefined {
    const reason =
      address === undefined ? 'invalid' : (unusable(use, address) ?? this.#inUse(use, address));
    return reason && addressRefusal(reason);
  }

  #inUse(use: AddressUse, address: IpBytes): AddressReason | undefined {
    if (refuses('this node', use) && this.#own.has(formatIp(address))) return 'this node';
    if (refuses('gateway', use) && this.#gateways.includes(formatIp(address))) return 'gateway';
    return this.#subnets.find(({ reason, cidr }) => refuses(reason, use) && contains(cidr, address))
      ?.reason;
  }
}

/** Why no host can have an address of a Node object, whatever the network is; undefined if one can. */
export function whyNoHost(text: string): AddressRefusal | undefined {
  const address = parseIp(text);
  const reason = address === undefined ? 'invalid' : unusable('route', address);
  return reason && addressRefusal(reason);
}

function unusable(use: AddressUse, address: IpBytes): AddressReason | undefined {
  const kind = kindOf(address);
  return kind !== undefined && refuses(kind, use) ? kind : undefined;
}

function kindOf(address: IpBytes): AddressReason | undefined {
  const [first = 0, second = 0] = address;
  if (ipFamily(address) === 4) {
    if (first === 0 && isUnspecified(address)) return 'unspecified';
    if (first === 127) return 'loopback';
    if (first >= 240) return 'reserved';
    if (first >= 224) return 'multicast';
    return first === 169 && second === 254 ? 'link-local, IPv4' : undefined;
  }
  if (first === 0 && isUnspecified(address)) return 'unspecified';
  if (first === 0 && address.every((byte, at) => byte === (at === 15 ? 1 : 0))) return 'loopback';
  if (first === 0xff) return 'multicast';
  return isLinkLocalIpv6(address) ? 'link-local, IPv6' : undefined;
}
