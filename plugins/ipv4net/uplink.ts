import { contains, firstOfFamily, parseCidr, parseIp } from '#models/ip.ts';
import type { Uplink } from './api.ts';
import { EDGE_LINK } from './names.ts';
import { familyInput, type NodeInput, nodeAddress, withoutPrefixLength } from './node-input.ts';

/**
 * The NIC in whose network the default gateway of IPv4 is. With STN or DHCP that is the main one.
 * @returns undefined if sources are not translated
 */
export function uplinkOf(input: NodeInput): Uplink | undefined {
  const { main, others, routing, stn } = input;
  if (!input.natExternalTraffic) return undefined;
  const own = nodeAddress(input, 4);
  if (main.name !== undefined && own !== undefined) {
    if (stn !== undefined || main.useDhcp || leadsToGateway(input, own)) {
      // without an overlay, packets between the nodes take this interface and must not be translated
      if (routing.transport === 'nooverlay') return undefined;
      return {
        interface: main.name,
        address: withoutPrefixLength(own),
        edgeLink: familyInput(input, 4) ? EDGE_LINK : undefined,
      };
    }
  }
  for (const { name, addresses } of others) {
    const address = addresses.find((one) => leadsToGateway(input, one));
    if (address !== undefined)
      return { interface: name, address: withoutPrefixLength(address), edgeLink: undefined };
  }
  return undefined;
}

/** @param cidr of any family */
function leadsToGateway({ defaultGateways }: NodeInput, cidr: string): boolean {
  const [gateway, network] = [firstOfFamily(defaultGateways, 4), parseCidr(cidr)];
  const address = gateway === undefined ? undefined : parseIp(gateway);
  return address !== undefined && network !== undefined && contains(network, address);
}
