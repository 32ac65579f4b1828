/**
 * A host whose only NIC VPP has taken over (value 8 of the original). Host and VPP share the address
 * of the node: VPP punts unhandled packets to the host over the link between them, and the host sends
 * all packets to VPP, which answers ARP requests for all addresses of the network.
 */

import {
  contains,
  formatCidr,
  formatIp,
  lastAddress,
  network,
  parseCidr,
  parseIp,
} from '#models/ip.ts';
import { linuxArpModel } from '#models/linux/arp.ts';
import { linuxRouteModel } from '#models/linux/route.ts';
import { vppArpModel } from '#models/vpp/arp.ts';
import { ipRedirectModel } from '#models/vpp/ip-redirect.ts';
import { proxyArpModel } from '#models/vpp/proxy-arp.ts';
import { vppRouteModel } from '#models/vpp/route.ts';
import { stnRuleModel } from '#models/vpp/stn-rule.ts';
import { type KeyValue, keyValue } from '#plugins/controller/api/key-value.ts';
import { hostInterconnectName, hostSideName } from './interconnect-names.ts';
import { hostLinkMac } from './names.ts';
import { mainInterfaceName } from './nics.ts';
import { familyOf, hostNetwork, type NodeInput, nodeIp } from './node-input.ts';

/** MAC of the host end: VPP cannot resolve an address that is also its own. */
export const STN_HOST_MAC = '00:00:00:00:00:02';

/** Address of the host end as CIDR; undefined if the node has none. */
export function stnHostAddress(input: NodeInput): string | undefined {
  const [address] = input.main.addresses;
  const own = nodeIp(input);
  // in IPv6 a network of two addresses: a route covers the rest of the original network
  return own?.includes(':') ? `${own}/127` : address;
}

/** Gateway of the host for packets to VPP; undefined while it is unknown. */
export function stnGateway(input: NodeInput): string | undefined {
  const own = parseCidr(stnHostAddress(input) ?? '');
  if (!own || own.address.length === 4) return input.defaultGateway || undefined;
  const other = own.address.slice();
  other[other.length - 1]! ^= 1;
  return formatIp(other);
}

export function stnValues(input: NodeInput): KeyValue[] {
  const { stn, routing } = input;
  const own = nodeIp(input);
  const gateway = stnGateway(input);
  if (!stn || own === undefined) return [];
  const toVpp = (destination: string): KeyValue[] =>
    gateway === undefined
      ? []
      : [
          keyValue(linuxRouteModel, {
            outgoing_interface: hostSideName(input),
            scope: 'GLOBAL',
            dst_network: destination,
            gw_addr: gateway,
          }),
        ];
  return [
    puntToHost(input, own),
    keyValue(vppArpModel, {
      interface: hostInterconnectName(input),
      ip_address: own,
      phys_address: STN_HOST_MAC,
      static: true,
    }),
    ...(familyOf(own) === 4
      ? [proxyArpForNetwork(input), ...routesToOutsideGateways(input)]
      : [...gatewayNeighbor(input), ...toVpp(originalNetwork(input))]),
    ...stn.routes.flatMap(({ destination, gateway: over }) => [
      keyValue(vppRouteModel, {
        vrf_id: routing.mainVrf,
        dst_network: destination,
        next_hop_addr: over,
        outgoing_interface: mainInterfaceName(input),
      }),
      ...toVpp(destination),
    ]),
  ];
}

/** VPP punts unhandled packets to the host. */
function puntToHost(input: NodeInput, own: string): KeyValue {
  const link = hostInterconnectName(input);
  return input.stn!.version === 1
    ? keyValue(stnRuleModel, { interface: link, ip_address: own })
    : keyValue(ipRedirectModel, { l3_protocol: 'ALL', tx_interface: link, next_hop: own });
}

/**
 * Gateways outside of the network of the node, as of a NIC whose address is a /32: the host reached them by a
 * link route. In IPv6 the host needs none, because its gateway is a neighbor.
 */
function outsideGateways({ main, stn, defaultGateway }: NodeInput): readonly string[] {
  const own = parseCidr(main.addresses[0]!)!;
  const all = new Set([defaultGateway, ...stn!.routes.map(({ gateway }) => gateway)]);
  return [...all].filter((gateway) => {
    const address = parseIp(gateway);
    return address && !contains(own, address);
  });
}

function routesToOutsideGateways(input: NodeInput): KeyValue[] {
  return outsideGateways(input).flatMap((gateway) => [
    keyValue(vppRouteModel, {
      vrf_id: input.routing.mainVrf,
      dst_network: hostNetwork(gateway),
      outgoing_interface: mainInterfaceName(input),
    }),
    keyValue(linuxRouteModel, {
      outgoing_interface: hostSideName(input),
      scope: 'LINK',
      dst_network: hostNetwork(gateway),
    }),
  ]);
}

/** VPP answers ARP requests of the host for all addresses of the network, including its own, and for gateways. */
function proxyArpForNetwork(input: NodeInput): KeyValue {
  const own = parseCidr(input.main.addresses[0]!)!;
  const first = network(own).address;
  const last = lastAddress(own);
  // in a network of more than two addresses, without network and broadcast address
  if (own.length < 31) {
    first[3]! += 1;
    last[3]! -= 1;
  }
  return keyValue(proxyArpModel, {
    interfaces: [{ name: hostInterconnectName(input) }],
    ranges: [
      { first_ip_addr: formatIp(first), last_ip_addr: formatIp(last) },
      ...outsideGateways(input).map((gateway) => {
        return { first_ip_addr: gateway, last_ip_addr: gateway };
      }),
    ],
  });
}

/** There is no proxy for IPv6 neighbors, so the gateway is a static neighbor of the host. */
function gatewayNeighbor(input: NodeInput): KeyValue[] {
  const gateway = stnGateway(input);
  if (gateway === undefined) return [];
  return [
    keyValue(linuxArpModel, {
      interface: hostSideName(input),
      ip_address: gateway,
      hw_address: hostLinkMac(input.nodeId),
    }),
  ];
}

function originalNetwork(input: NodeInput): string {
  return formatCidr(network(parseCidr(input.main.addresses[0]!)!));
}
