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
import { type Item, item } from './items.ts';
import { hostLinkMac } from './names.ts';
import { mainInterfaceName } from './nics.ts';
import { familyOf, nodeIp, type Site } from './site.ts';

/** Of the host's end: VPP cannot ask who has an address that is its own as well. */
export const STN_HOST_MAC = '00:00:00:00:00:02';

/** Address of the host's end as CIDR; undefined while the node has none. */
export function stnHostAddress(site: Site): string | undefined {
  const [address] = site.main.addresses;
  const own = nodeIp(site);
  // a network of two in IPv6: the rest of the original one is reached by a route
  return own?.includes(':') ? `${own}/127` : address;
}

/** Whom the host sends to what is for VPP; undefined while nobody is known. */
export function stnGateway(site: Site): string | undefined {
  const own = parseCidr(stnHostAddress(site) ?? '');
  if (!own || own.address.length === 4) return site.defaultGateway || undefined;
  const other = own.address.slice();
  other[other.length - 1]! ^= 1;
  return formatIp(other);
}

export function stnItems(site: Site): Item[] {
  const { stn, routing } = site;
  const own = nodeIp(site);
  const gateway = stnGateway(site);
  if (!stn || own === undefined) return [];
  const toVpp = (destination: string): Item[] =>
    gateway === undefined
      ? []
      : [
          item(linuxRouteModel, {
            outgoing_interface: hostSideName(site),
            scope: 'GLOBAL',
            dst_network: destination,
            gw_addr: gateway,
          }),
        ];
  return [
    handOver(site, own),
    item(vppArpModel, {
      interface: hostInterconnectName(site),
      ip_address: own,
      phys_address: STN_HOST_MAC,
      static: true,
    }),
    ...(familyOf(own) === 4
      ? [answerForAll(site)]
      : [...neighbor(site), ...toVpp(originalNetwork(site))]),
    ...stn.routes.flatMap(({ destination, gateway: over }) => [
      item(vppRouteModel, {
        vrf_id: routing.mainVrf,
        dst_network: destination,
        next_hop_addr: over,
        outgoing_interface: mainInterfaceName(site),
      }),
      ...toVpp(destination),
    ]),
  ];
}

/** What VPP has no use for goes to the host. */
function handOver(site: Site, own: string): Item {
  const link = hostInterconnectName(site);
  return site.stn!.version === 1
    ? item(stnRuleModel, { interface: link, ip_address: own })
    : item(ipRedirectModel, { l3_protocol: 'ALL', tx_interface: link, next_hop: own });
}

/** VPP answers the host's questions for everybody on the network, itself included. */
function answerForAll(site: Site): Item {
  const own = parseCidr(site.main.addresses[0]!)!;
  const first = network(own).address;
  const last = lastAddress(own);
  // of more than two, neither the network nor the broadcast address
  if (own.length < 31) {
    first[3]! += 1;
    last[3]! -= 1;
  }
  return item(proxyArpModel, {
    interfaces: [{ name: hostInterconnectName(site) }],
    ranges: [{ first_ip_addr: formatIp(first), last_ip_addr: formatIp(last) }],
  });
}

/** In IPv6 nobody answers for others: the host is told where its gateway is. */
function neighbor(site: Site): Item[] {
  const gateway = stnGateway(site);
  if (gateway === undefined) return [];
  return [
    item(linuxArpModel, {
      interface: hostSideName(site),
      ip_address: gateway,
      hw_address: hostLinkMac(site.nodeId),
    }),
  ];
}

function originalNetwork(site: Site): string {
  return formatCidr(network(parseCidr(site.main.addresses[0]!)!));
}
