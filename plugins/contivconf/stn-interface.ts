/** Configuration of the host on the NIC that VPP took over, as this node uses it. */
import {
  type Cidr,
  familyOf,
  firstOfFamily,
  formatIp,
  type IpBytes,
  type IpFamily,
  ipFamily,
  isUnspecified,
  lastAddress,
  network,
  parseCidr,
  parseIp,
} from '#models/ip.ts';
import type { StolenInterface, StolenRoute } from '#plugins/controller/api/ports/stn.ts';

const VMXNET3 = 'vmxnet3';

/** Addresses of one family as CIDRs, without link-local ones. */
export function stolenAddresses(stolen: StolenInterface, family: 4 | 6): string[] {
  return stolen.addresses.filter((text) => {
    const cidr = parseCidr(text);
    return cidr && ipFamily(cidr.address) === family && !text.toLowerCase().startsWith('fe80:');
  });
}

/** Routes through a gateway; the default route has a network as destination. */
export function stolenRoutes(stolen: StolenInterface, family: 4 | 6): StolenRoute[] {
  const any = family === 4 ? '0.0.0.0/0' : '::/0';
  return stolen.routes
    .map(({ destination, gateway }) => ({ destination: destination || any, gateway }))
    .filter(({ destination, gateway }) => {
      const to = parseCidr(destination);
      const over = parseIp(gateway);
      return to && over && ipFamily(over) === family && ipFamily(to.address) === family;
    });
}

/** Gateway of the default route; undefined if there is none. */
export function stolenGateway(stolen: StolenInterface, family: 4 | 6): string | undefined {
  return stolenRoutes(stolen, family).find(({ destination }) => {
    const cidr = parseCidr(destination)!;
    return cidr.length === 0 && isUnspecified(cidr.address);
  })?.gateway;
}

/**
 * An address in the NIC's network that serves as the gateway if there is none: the host sends packets
 * for VPP to it, and VPP answers ARP requests for it. Never an address of the host itself.
 * @param address CIDR of the host
 */
function standInGateway(address: string): string | undefined {
  const own = parseCidr(address);
  const free = own && own.address.length * 8 - own.length;
  if (!own || !free) return undefined;
  const first = network(own).address;
  if (free === 1) return other(first, own.address);
  first[first.length - 1]! += 1;
  return formatIp(first) === formatIp(own.address) ? lastHost(own) : formatIp(first);
}

/** Of the first address in each family. @param addresses CIDRs of the host */
export function standInGateways(addresses: readonly string[]): string[] {
  return ([4, 6] as const).flatMap((family) => {
    const own = firstOfFamily(addresses, family);
    return (own === undefined ? undefined : standInGateway(own)) ?? [];
  });
}

export interface InheritanceFault {
  readonly reason: string;
  readonly consequence: string;
}

/**
 * Uses of the NIC that the host no longer has when VPP has it.
 * @param addresses CIDRs of the host; the first one of a family is that of the node
 * @param families of the pods
 * @param hasRoute whether VPP has a route over the NIC: of the host, or to a default gateway
 */
export function inheritanceFaults(
  addresses: readonly string[],
  families: readonly IpFamily[],
  hasRoute: boolean,
): InheritanceFault[] {
  if (addresses.length === 0) return [];
  const faults: InheritanceFault[] = [];
  for (const family of families) {
    const [address, ...others] = addresses.filter((one) => familyOf(one) === family);
    if (address === undefined)
      faults.push({
        reason: `the host had no address of IPv${family} on it, and none is configured`,
        consequence: `; the host is not reached by IPv${family}`,
      });
    if (others.length > 0)
      faults.push({
        reason: `the host had ${others.join(', ')} on it, too`,
        consequence: `; VPP has taken over all addresses, and the host is reached only at ${address}`,
      });
  }
  if (!hasRoute && !addresses.some(hasNeighbors))
    faults.push({
      reason: `the host had no network and no route on it, only ${addresses.join(', ')}`,
      consequence: '; VPP and the host reach no other node',
    });
  return faults;
}

function hasNeighbors(address: string): boolean {
  const cidr = parseCidr(address);
  return cidr !== undefined && cidr.length < cidr.address.length * 8;
}

/** Of the two addresses of a network: the one that is not the host's. */
function other(first: IpBytes, own: IpBytes): string {
  const second = Uint8Array.from(first);
  second[second.length - 1]! += 1;
  return formatIp(formatIp(first) === formatIp(own) ? second : first);
}

/** The last but one address: in IPv4, the one before the broadcast address. */
function lastHost(cidr: Cidr): string {
  const last = lastAddress(cidr);
  last[last.length - 1]! -= 1;
  return formatIp(last);
}

/** Kernel driver of a NIC that VPP supports only by DPDK; undefined: supported. */
export function unsupportedDriver(stolen: StolenInterface): string | undefined {
  return stolen.kernelDriver === VMXNET3 ? VMXNET3 : undefined;
}
