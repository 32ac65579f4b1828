import {
  contains,
  firstOfFamily,
  type IpFamily,
  isLinkLocalIpv6,
  parseCidr,
  parseIp,
} from '#models/ip.ts';
import type { Uplink } from './api.ts';
import { EDGE_LINK } from './names.ts';
import { familyInput, type NodeInput, nodeAddress, withoutPrefixLength } from './node-input.ts';

/**
 * The NIC in whose network the default gateway of a family is. With STN or DHCP that is the main one; in IPv6 no other one
 * translates.
 * @returns undefined if sources are not translated
 */
export function uplinkOf(input: NodeInput, family: IpFamily): Uplink | undefined {
  const { main, others, routing, stn } = input;
  if (!input.natFamilies.includes(family)) return undefined;
  const own = nodeAddress(input, family);
  if (main.name !== undefined && own !== undefined) {
    const isLeased = main.useDhcp && family === 4;
    if (stn !== undefined || isLeased || leadsToGateway(input, own, family)) {
      // without an overlay, packets between the nodes take this interface and must not be translated
      if (routing.transport === 'nooverlay') return undefined;
      return {
        interface: main.name,
        address: withoutPrefixLength(own),
        edgeLink: familyInput(input, family) ? EDGE_LINK : undefined,
      };
    }
  }
  if (family === 6) return undefined;
  for (const { name, addresses } of others) {
    const address = addresses.find((one) => leadsToGateway(input, one, family));
    if (address !== undefined)
      return { interface: name, address: withoutPrefixLength(address), edgeLink: undefined };
  }
  return undefined;
}

/** @param cidr of any family; to a link-local gateway the main NIC leads */
function leadsToGateway({ defaultGateways }: NodeInput, cidr: string, family: IpFamily): boolean {
  const [gateway, network] = [firstOfFamily(defaultGateways, family), parseCidr(cidr)];
  const address = gateway === undefined ? undefined : parseIp(gateway);
  if (address === undefined || network === undefined) return false;
  return isLinkLocalIpv6(address) || contains(network, address);
}
