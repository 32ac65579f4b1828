/** What the host had configured on the NIC that VPP took over, as this node takes it on. */
import {
  type Cidr,
  formatIp,
  type IpBytes,
  ipFamily,
  isUnspecified,
  lastAddress,
  network,
  parseCidr,
  parseIp,
} from '#models/ip.ts';
import type { StolenInterface, StolenRoute } from '#plugins/controller/api/ports/stn.ts';

const VMXNET3 = 'vmxnet3';

/** Addresses of one family as CIDRs; link-local ones stay with the link. */
export function stolenAddresses(stolen: StolenInterface, family: 4 | 6): string[] {
  return stolen.addresses.filter((text) => {
    const cidr = parseCidr(text);
    return cidr && ipFamily(cidr.address) === family && !text.toLowerCase().startsWith('fe80:');
  });
}

/** Routes through a router, the default route written as a network. */
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

/** Gateway of the default route; undefined when there is none. */
export function stolenGateway(stolen: StolenInterface, family: 4 | 6): string | undefined {
  return stolenRoutes(stolen, family).find(({ destination }) => {
    const cidr = parseCidr(destination)!;
    return cidr.length === 0 && isUnspecified(cidr.address);
  })?.gateway;
}

/**
 * Somebody on the NIC's network who may stand for a gateway where there is none: the host sends
 * what is for VPP to him, and VPP answers for him. Never an address of the host itself.
 * @param address CIDR of the host
 */
export function standInGateway(address: string): string | undefined {
  const own = parseCidr(address);
  const free = own && own.address.length * 8 - own.length;
  if (!own || !free) return undefined;
  const first = network(own).address;
  if (free === 1) return other(first, own.address);
  first[first.length - 1]! += 1;
  return formatIp(first) === formatIp(own.address) ? lastHost(own) : formatIp(first);
}

/** Of the two addresses of a network: the one that is not our own. */
function other(first: IpBytes, own: IpBytes): string {
  const second = Uint8Array.from(first);
  second[second.length - 1]! += 1;
  return formatIp(formatIp(first) === formatIp(own) ? second : first);
}

/** The last address but one: of IPv4, the one before the broadcast address. */
function lastHost(cidr: Cidr): string {
  const last = lastAddress(cidr);
  last[last.length - 1]! -= 1;
  return formatIp(last);
}

/** Drivers of VPP for it besides DPDK are not there yet. */
export function unsupportedDriver(stolen: StolenInterface): string | undefined {
  return stolen.kernelDriver === VMXNET3 ? VMXNET3 : undefined;
}
