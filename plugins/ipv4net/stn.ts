/**
 * Item 8: a host whose only NIC VPP has taken over. Host and VPP share the address of the node: what
 * VPP has no use for goes on to the host over the link between them, and what the host sends goes to
 * VPP, which answers for everybody on the network.
 */

import { formatCidr, formatIp, lastAddress, network, parseCidr } from '#models/ip.ts';
import { linuxArpModel } from '#models/linux/arp.ts';
import { linuxRouteModel } from '#models/linux/route.ts';
import { vppArpModel } from '#models/vpp/arp.ts';
import { ipRedirectModel } from '#models/vpp/ip-redirect.ts';
import { proxyArpModel } from '#models/vpp/proxy-arp.ts';
import { vppRouteModel } from '#models/vpp/route.ts';
import { stnRuleModel } from '#models/vpp/stn-rule.ts';
import { hostInterconnectName, hostSideName } from './interconnect.ts';
import { type KeyValue, keyValue } from './key-value.ts';
import { hostLinkMac } from './names.ts';
import { mainInterfaceName } from './nics.ts';
import { familyOf, type NodeInput, nodeIp } from './node-input.ts';

/** Of the host's end: VPP cannot ask who has an address that is its own as well. */
export const STN_HOST_MAC = '00:00:00:00:00:02';

/** Address of the host's end as CIDR; undefined while the node has none. */
export function stnHostAddress(input: NodeInput): string | undefined {
  const [address] = input.main.addresses;
  const own = nodeIp(input);
  // a network of two in IPv6: the rest of the original one is reached by a route
  return own?.includes(':') ? `${own}/127` : address;
}

/** Whom the host sends to what is for VPP; undefined while nobody is known. */
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
      ? [proxyArpForNetwork(input)]
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

/** What VPP has no use for goes to the host. */
function puntToHost(input: NodeInput, own: string): KeyValue {
  const link = hostInterconnectName(input);
  return input.stn!.version === 1
    ? keyValue(stnRuleModel, { interface: link, ip_address: own })
    : keyValue(ipRedirectModel, { l3_protocol: 'ALL', tx_interface: link, next_hop: own });
}

/** VPP answers the host's questions for everybody on the network, itself included. */
function proxyArpForNetwork(input: NodeInput): KeyValue {
  const own = parseCidr(input.main.addresses[0]!)!;
  const first = network(own).address;
  const last = lastAddress(own);
  // of more than two, neither the network nor the broadcast address
  if (own.length < 31) {
    first[3]! += 1;
    last[3]! -= 1;
  }
  return keyValue(proxyArpModel, {
    interfaces: [{ name: hostInterconnectName(input) }],
    ranges: [{ first_ip_addr: formatIp(first), last_ip_addr: formatIp(last) }],
  });
}

/** In IPv6 nobody answers for others: the host is told where its gateway is. */
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
