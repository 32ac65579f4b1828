import { contains, ipFamily, parseCidr, parseIp } from '#models/ip.ts';
import type { Uplink } from './api.ts';
import { EDGE_LINK } from './names.ts';
import { type NodeInput, withoutPrefixLength } from './node-input.ts';

/**
 * The NIC in whose network the default gateway is. With STN or DHCP that is the main one.
 * @returns undefined if sources are not translated
 */
export function uplinkOf(input: NodeInput): Uplink | undefined {
  const { main, others, routing, stn } = input;
  if (!input.natExternalTraffic) return undefined;
  const [nodeAddress] = main.addresses;
  if (main.name !== undefined && nodeAddress !== undefined && isV4(nodeAddress)) {
    if (stn !== undefined || main.useDhcp || leadsToGateway(input, nodeAddress)) {
      // without an overlay, packets between the nodes take this interface and must not be translated
      if (routing.transport === 'nooverlay') return undefined;
      return {
        interface: main.name,
        address: withoutPrefixLength(nodeAddress),
        edgeLink: input.networks[0].family === 4 ? EDGE_LINK : undefined,
      };
    }
  }
  for (const { name, addresses } of others) {
    const address = addresses.find((one) => isV4(one) && leadsToGateway(input, one));
    if (address !== undefined)
      return { interface: name, address: withoutPrefixLength(address), edgeLink: undefined };
  }
  return undefined;
}

function leadsToGateway({ defaultGateway }: NodeInput, cidr: string): boolean {
  const [gateway, network] = [parseIp(defaultGateway), parseCidr(cidr)];
  return gateway !== undefined && network !== undefined && contains(network, gateway);
}

function isV4(cidr: string): boolean {
  const parsed = parseCidr(cidr);
  return parsed !== undefined && ipFamily(parsed.address) === 4;
}
