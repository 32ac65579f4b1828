/** Item 16: the way to the other nodes, through VXLAN tunnels or straight. */
import { errorText } from '#infra/errors/errors.ts';
import { vppArpModel } from '#models/vpp/arp.ts';
import { bridgeDomainModel } from '#models/vpp/bridge-domain.ts';
import { fibEntryModel } from '#models/vpp/fib-entry.ts';
import { vppInterfaceModel } from '#models/vpp/interface.ts';
import { vppRouteModel } from '#models/vpp/route.ts';
import type { Node } from '#plugins/nodesync/api.ts';
import { type Item, item } from './items.ts';
import { bviMac, VXLAN_BRIDGE_DOMAIN, VXLAN_BVI, vxlanTunnel } from './names.ts';
import { familyOf, hostNetwork, nodeIp, plain, type Site } from './site.ts';
import { interVrfRoute } from './vrfs.ts';

const DEFAULT_VNI = 10;
/** What comes in from one tunnel never goes out into another. */
const SPLIT_HORIZON_GROUP = 1;

/**
 * Address under which another node is reached, plain; undefined as long as there is none. A node
 * without a management address is on its way into the cluster, or out of it.
 */
export function reachableAt(site: Site, node: Node): string | undefined {
  const own = nodeIp(site);
  if (own === undefined || node.managementAddresses.length === 0) return undefined;
  const family = familyOf(own);
  return node.vppAddresses.map(plain).find((address) => familyOf(address) === family);
}

/**
 * Why a node can have no place here: records of nodes are written by anybody, and an ID beyond the
 * plan of the addresses must take the way to no other node along.
 */
export function obstacleTo(site: Site, node: Node): string | undefined {
  try {
    networksOf(site, node);
    if (site.routing.transport === 'vxlan') site.addresses.vxlanAddress(node.id);
    return undefined;
  } catch (thrown) {
    return `there are no addresses for its ID ${node.id}: ${errorText(thrown)}`;
  }
}

/** What lies behind a node, besides its own addresses. */
function networksOf({ addresses }: Site, { id }: Node): string[] {
  return [addresses.podSubnetOtherNode(id), addresses.hostInterconnectSubnetOtherNode(id)];
}

/**
 * The bridge domain of the tunnels and the routed interface in it.
 * @param nodeIds IDs of the nodes to which there are tunnels
 */
export function overlayItems(site: Site, nodeIds: readonly number[]): Item[] {
  if (site.routing.transport !== 'vxlan') return [];
  return [
    item(vppInterfaceModel, {
      name: VXLAN_BVI,
      type: 'SOFTWARE_LOOPBACK',
      enabled: true,
      vrf: site.routing.podVrf,
      phys_address: bviMac(site.nodeId),
      ip_addresses: [site.addresses.vxlanAddress(site.nodeId)],
    }),
    item(bridgeDomainModel, {
      name: VXLAN_BRIDGE_DOMAIN,
      forward: true,
      interfaces: [
        {
          name: VXLAN_BVI,
          bridged_virtual_interface: true,
          split_horizon_group: SPLIT_HORIZON_GROUP,
        },
        ...nodeIds.map((id) => ({
          name: vxlanTunnel(id),
          split_horizon_group: SPLIT_HORIZON_GROUP,
        })),
      ],
    }),
  ];
}

/** @param address where the node is reached, see `reachableAt` */
export function nodeItems(site: Site, node: Node, address: string): Item[] {
  const networks = networksOf(site, node);
  const management = node.managementAddresses.filter((one) => familyOf(one) === site.family);
  return site.routing.transport === 'vxlan'
    ? throughTunnel(site, node, address, networks, management)
    : straight(site, address, networks, management);
}

function throughTunnel(
  site: Site,
  node: Node,
  address: string,
  networks: readonly string[],
  management: readonly string[],
): Item[] {
  const { routing } = site;
  const nextHop = plain(site.addresses.vxlanAddress(node.id));
  const route = (destination: string): Item =>
    item(vppRouteModel, {
      vrf_id: routing.podVrf,
      dst_network: destination,
      next_hop_addr: nextHop,
      outgoing_interface: VXLAN_BVI,
    });
  const items = [
    item(vppInterfaceModel, {
      name: vxlanTunnel(node.id),
      type: 'VXLAN_TUNNEL',
      enabled: true,
      vrf: routing.mainVrf,
      vxlan: { src_address: nodeIp(site)!, dst_address: address, vni: DEFAULT_VNI },
    }),
    item(vppArpModel, {
      interface: VXLAN_BVI,
      ip_address: nextHop,
      phys_address: bviMac(node.id),
      static: true,
    }),
    item(fibEntryModel, {
      bridge_domain: VXLAN_BRIDGE_DOMAIN,
      phys_address: bviMac(node.id),
      action: 'FORWARD',
      outgoing_interface: vxlanTunnel(node.id),
      static_config: true,
    }),
    ...networks.map(route),
  ];
  const vppSide = node.vppAddresses.map(plain);
  for (const one of management) {
    items.push(route(hostNetwork(one)));
    // were the end of the tunnel itself reached through the tunnel, nothing would get there; a host
    // without a NIC of its own is never reached otherwise than its VPP
    if (!vppSide.includes(one) && !site.stn)
      items.push(interVrfRoute(hostNetwork(one), routing.mainVrf, routing.podVrf));
  }
  return items;
}

function straight(
  site: Site,
  address: string,
  networks: readonly string[],
  management: readonly string[],
): Item[] {
  const destinations = [
    ...networks,
    ...management.filter((one) => one !== address).map(hostNetwork),
  ];
  return destinations.map((destination) =>
    item(vppRouteModel, {
      vrf_id: site.routing.mainVrf,
      dst_network: destination,
      next_hop_addr: address,
    }),
  );
}
