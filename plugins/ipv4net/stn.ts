/**
 * A host whose only NIC VPP has taken over (value 8 of the original). Host and VPP share the address
 * of the node: VPP punts unhandled packets to the host over the link between them, and the host sends
 * all packets to VPP, which answers ARP requests for all addresses of the network. Each family has values of its own; in
 * one in which the NIC had no address the host is not reached.
 */

import {
  contains,
  familyOf,
  firstOfFamily,
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
import type { StnConfig } from '#plugins/contivconf/api.ts';
import { type KeyValue, keyValue } from '#plugins/controller/api/key-value.ts';
import { hostInterconnectName, hostSideName } from './interconnect-names.ts';
import { hostLinkMac } from './names.ts';
import { mainInterfaceName } from './nics.ts';
import {
  type FamilyInput,
  hostNetwork,
  type NodeInput,
  nodeAddress,
  ofAllFamilies,
  withoutPrefixLength,
} from './node-input.ts';

/** MAC of the host end: VPP cannot resolve an address that is also its own. */
export const STN_HOST_MAC = '00:00:00:00:00:02';

/** Address of the host end as CIDR, in one family; undefined if the node has none. */
export function stnHostAddress(input: FamilyInput): string | undefined {
  const address = nodeAddress(input, input.family);
  // in IPv6 a network of two addresses: a route covers the rest of the original network
  return input.family === 6 && address !== undefined
    ? `${withoutPrefixLength(address)}/127`
    : address;
}

/** Gateway of the host for packets to VPP, in one family; undefined while it is unknown. */
export function stnGateway(input: FamilyInput): string | undefined {
  const own = parseCidr(stnHostAddress(input) ?? '');
  if (!own) return undefined;
  if (input.family === 4) return firstOfFamily(input.defaultGateways, 4);
  const other = own.address.slice();
  other[other.length - 1]! ^= 1;
  return formatIp(other);
}

export function stnValues(input: NodeInput): KeyValue[] {
  return ofAllFamilies(input, valuesOfFamily);
}

function valuesOfFamily(input: FamilyInput): KeyValue[] {
  const { family, stn, routing } = input;
  const own = nodeAddress(input, family);
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
    puntToHost(input, withoutPrefixLength(own)),
    keyValue(vppArpModel, {
      interface: hostInterconnectName(input),
      ip_address: withoutPrefixLength(own),
      phys_address: STN_HOST_MAC,
      static: true,
    }),
    ...(family === 4
      ? [proxyArpForNetwork(input, own), ...routesToOutsideGateways(input, own)]
      : [...gatewayNeighbor(input), ...toVpp(networkOf(own))]),
    ...routesOf(input).flatMap(({ destination, gateway: over }) => [
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

/** Routes of the host in one family. */
function routesOf({ stn, family }: FamilyInput): StnConfig['routes'] {
  return (stn?.routes ?? []).filter(({ destination }) => familyOf(destination) === family);
}

/** VPP punts unhandled packets to the host. The redirect of the primary family has the key of the original. */
function puntToHost(input: FamilyInput, own: string): KeyValue {
  const link = hostInterconnectName(input);
  const { family, networks } = input;
  const l3_protocol = family === networks[0].family ? 'ALL' : (`IPV${family}` as const);
  return input.stn!.version === 1
    ? keyValue(stnRuleModel, { interface: link, ip_address: own })
    : keyValue(ipRedirectModel, { l3_protocol, tx_interface: link, next_hop: own });
}

/**
 * Gateways outside of the network of the node, as of a NIC whose address is a /32: the host reached them by a
 * link route. In IPv6 the host needs none, because its gateway is a neighbor.
 */
function outsideGateways(input: FamilyInput, own: string): readonly string[] {
  const inside = parseCidr(own)!;
  const all = new Set([
    ...input.defaultGateways.filter((one) => familyOf(one) === input.family),
    ...routesOf(input).map(({ gateway }) => gateway),
  ]);
  return [...all].filter((gateway) => !contains(inside, parseIp(gateway)!));
}

function routesToOutsideGateways(input: FamilyInput, own: string): KeyValue[] {
  return outsideGateways(input, own).flatMap((gateway) => [
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
function proxyArpForNetwork(input: FamilyInput, own: string): KeyValue {
  const cidr = parseCidr(own)!;
  const first = network(cidr).address;
  const last = lastAddress(cidr);
  // in a network of more than two addresses, without network and broadcast address
  if (cidr.length < 31) {
    first[3]! += 1;
    last[3]! -= 1;
  }
  return keyValue(proxyArpModel, {
    interfaces: [{ name: hostInterconnectName(input) }],
    ranges: [
      { first_ip_addr: formatIp(first), last_ip_addr: formatIp(last) },
      ...outsideGateways(input, own).map((gateway) => {
        return { first_ip_addr: gateway, last_ip_addr: gateway };
      }),
    ],
  });
}

/** There is no proxy for IPv6 neighbors, so the gateway is a static neighbor of the host. */
function gatewayNeighbor(input: FamilyInput): KeyValue[] {
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

function networkOf(address: string): string {
  return formatCidr(network(parseCidr(address)!));
}
