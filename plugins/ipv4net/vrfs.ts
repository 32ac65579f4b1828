/** Items 9 to 14: the two VRFs, how they lead to each other, and aging of neighbors. */
import type { IpFamily } from '#models/ip.ts';
import { vppInterfaceModel } from '#models/vpp/interface.ts';
import { ipScanNeighborModel } from '#models/vpp/ip-scan-neighbor.ts';
import { vppRouteModel } from '#models/vpp/route.ts';
import { vrfTableModel } from '#models/vpp/vrf-table.ts';
import { type Item, item } from './items.ts';
import { POD_GATEWAY_LOOPBACK } from './names.ts';
import { anyAddress, anyNetwork, familyOf, prefixLength, type Site } from './site.ts';

export function vrfItems(site: Site): Item[] {
  return [
    ...tables(site),
    podGateway(site),
    ...betweenVrfs(site),
    ...dropRoutes(site),
    ...neighborScan(site),
  ];
}

/** Table 0 is there without being asked for, and is written for its label. */
function tables({ routing, family }: Site): Item[] {
  const table = (id: number, label: string, of: IpFamily): Item =>
    item(vrfTableModel, { id, protocol: `IPV${of}`, label: `${label}-IPv${of}` });
  return [
    table(routing.mainVrf, 'mainVRF', 4),
    ...(family === 6 ? [table(routing.mainVrf, 'mainVRF', 6)] : []),
    table(routing.podVrf, 'podVRF', family),
  ];
}

/** Lends its address to the pods' interfaces and answers as their gateway. */
function podGateway({ addresses, routing }: Site): Item {
  return item(vppInterfaceModel, {
    name: POD_GATEWAY_LOOPBACK,
    type: 'SOFTWARE_LOOPBACK',
    enabled: true,
    vrf: routing.podVrf,
    ip_addresses: [`${addresses.podGateway()}/${prefixLength(addresses.podSubnetThisNode())}`],
  });
}

/** A route that looks the packet up in another VRF. */
export function interVrfRoute(destination: string, vrf: number, viaVrf: number): Item {
  return item(vppRouteModel, {
    type: 'INTER_VRF',
    vrf_id: vrf,
    via_vrf_id: viaVrf,
    dst_network: destination,
    next_hop_addr: anyAddress(familyOf(destination) ?? 4),
  });
}

function betweenVrfs({ addresses, routing, family }: Site): Item[] {
  const overlay = routing.transport === 'vxlan';
  const toMain = [
    anyNetwork(family),
    // more specific than the route that drops what goes to hosts that are gone
    ...(overlay ? [addresses.hostInterconnectSubnetThisNode()] : []),
  ];
  const toPods = [
    ...(overlay
      ? [addresses.podSubnetAllNodes(), addresses.hostInterconnectSubnetAllNodes()]
      : [addresses.podSubnetThisNode()]),
    ...(family === 6 ? [addresses.serviceSubnet()] : []),
  ];
  return [
    ...toPods.map((network) => interVrfRoute(network, routing.mainVrf, routing.podVrf)),
    ...toMain.map((network) => interVrfRoute(network, routing.podVrf, routing.mainVrf)),
  ];
}

/** Ends the way of packets to pods and nodes that are gone, which would go round in circles. */
function dropRoutes({ addresses, routing, family }: Site): Item[] {
  const networks = [
    ...(routing.transport === 'vxlan'
      ? [addresses.podSubnetAllNodes(), addresses.hostInterconnectSubnetAllNodes()]
      : []),
    ...(family === 6 ? [addresses.serviceSubnet()] : []),
  ];
  return networks.map((network) =>
    item(vppRouteModel, {
      type: 'DROP',
      vrf_id: routing.podVrf,
      dst_network: network,
      next_hop_addr: anyAddress(family),
    }),
  );
}

function neighborScan({ neighborScan: scan, family }: Site): Item[] {
  if (!scan.scan) return [];
  return [
    item(ipScanNeighborModel, {
      mode: family === 4 ? 'IPV4' : 'BOTH',
      scan_interval: scan.interval,
      stale_threshold: scan.staleThreshold,
    }),
  ];
}
