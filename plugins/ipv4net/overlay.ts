/** Routes to the other nodes, through VXLAN tunnels or without overlay (value 16 of the original). */
import { errorText } from '#infra/errors/errors.ts';
import { vppArpModel } from '#models/vpp/arp.ts';
import { type BridgeDomainInterface, bridgeDomainModel } from '#models/vpp/bridge-domain.ts';
import { fibEntryModel } from '#models/vpp/fib-entry.ts';
import { vppInterfaceModel } from '#models/vpp/interface.ts';
import { vppRouteModel } from '#models/vpp/route.ts';
import { type KeyValue, keyValue } from '#plugins/controller/api/key-value.ts';
import type { Node } from '#plugins/nodesync/api.ts';
import { NAT_LINK_TABLE } from './api.ts';
import { interVrfRoute } from './inter-vrf-route.ts';
import { bviMac, VXLAN_BRIDGE_DOMAIN, VXLAN_BVI, vxlanTunnel } from './names.ts';
import {
  familyOf,
  hostNetwork,
  type NodeInput,
  nodeIp,
  withoutPrefixLength,
} from './node-input.ts';
import { SPLIT_HORIZON_GROUP } from './tunnel-members.ts';

const DEFAULT_VNI = 10;

/**
 * Address of another node without prefix length; undefined if there is none. A node without a
 * management address is joining or leaving the cluster.
 * @param addresses of its VPP that can be used
 */
export function reachableAt(
  input: NodeInput,
  node: Node,
  addresses: readonly string[],
): string | undefined {
  const own = nodeIp(input);
  if (own === undefined || node.managementAddresses.length === 0) return undefined;
  if (input.routing.transport === 'vxlan')
    return addresses.find((address) => familyOf(address) === familyOf(own));
  // next hops have the family of the pods; see `whyUnreachable` about nodes without such an address
  return addresses.find((address) => familyOf(address) === input.family) ?? addresses[0];
}

/**
 * Why a node cannot be configured; undefined if it can. Node records are untrusted, and an ID outside
 * of the address plan must not affect the other nodes.
 */
export function whyUnreachable(input: NodeInput, node: Node): string | undefined {
  if (node.id === input.nodeId) return `it has the ID ${node.id} of this node`;
  try {
    networksOf(input, node);
    if (input.routing.transport !== 'vxlan') return whyNoNextHop(input, node);
    input.addresses.vxlanAddress(node.id);
    return undefined;
  } catch (thrown) {
    return `the address plan has no addresses for its ID ${node.id}: ${errorText(thrown)}`;
  }
}

/** Why a node cannot be the next hop of routes to its pods; undefined if it can. */
function whyNoNextHop({ main, family }: NodeInput, node: Node): string | undefined {
  const isOfPods = (cidr: string): boolean => familyOf(cidr) === family;
  const needed = `IPv${family} address of its VPP, which pods of IPv${family} need without an overlay`;
  if (!main.addresses.some(isOfPods)) return `this node has no ${needed}`;
  return node.vppAddresses.some(isOfPods) ? undefined : `it has announced no ${needed}`;
}

/** Networks behind a node, besides its own addresses. */
function networksOf({ addresses }: NodeInput, { id }: Node): string[] {
  return [addresses.podSubnetOtherNode(id), addresses.hostInterconnectSubnetOtherNode(id)];
}

/** The bridge domain of the tunnels and its BVI. */
export function overlayValues(
  input: NodeInput,
  tunnels: readonly BridgeDomainInterface[],
): KeyValue[] {
  if (input.routing.transport !== 'vxlan') return [];
  const domain = bridgeDomainModel.canonical({
    name: VXLAN_BRIDGE_DOMAIN,
    forward: true,
    interfaces: [
      {
        name: VXLAN_BVI,
        bridged_virtual_interface: true,
        split_horizon_group: SPLIT_HORIZON_GROUP,
      },
    ],
  });
  // in the canonical order
  const interfaces = [...domain.interfaces, ...tunnels].sort((a, b) => (a.name < b.name ? -1 : 1));
  return [
    keyValue(vppInterfaceModel, {
      name: VXLAN_BVI,
      type: 'SOFTWARE_LOOPBACK',
      enabled: true,
      vrf: input.routing.podVrf,
      phys_address: bviMac(input.nodeId),
      ip_addresses: [input.addresses.vxlanAddress(input.nodeId)],
      // VPP fragments what comes from outside for pods of other nodes, and would be too large in a tunnel
      mtu: input.interfaces.mtu,
    }),
    {
      key: bridgeDomainModel.key(domain),
      value: Object.freeze({ ...domain, interfaces: Object.freeze(interfaces) }),
    },
  ];
}

/**
 * @param address of the node, see `reachableAt`
 * @param management addresses of its host that get routes
 */
export function remoteNodeValues(
  input: NodeInput,
  node: Node,
  address: string,
  management: readonly string[],
): KeyValue[] {
  const networks = networksOf(input, node);
  return input.routing.transport === 'vxlan'
    ? throughTunnel(input, node, address, networks, management)
    : withoutOverlay(input, address, networks, management);
}

function throughTunnel(
  input: NodeInput,
  node: Node,
  address: string,
  networks: readonly string[],
  management: readonly string[],
): KeyValue[] {
  const { routing } = input;
  const nextHop = withoutPrefixLength(input.addresses.vxlanAddress(node.id));
  const route = (destination: string): KeyValue =>
    keyValue(vppRouteModel, {
      vrf_id: routing.podVrf,
      dst_network: destination,
      next_hop_addr: nextHop,
      outgoing_interface: VXLAN_BVI,
    });
  const values = [
    keyValue(vppInterfaceModel, {
      name: vxlanTunnel(node.id),
      type: 'VXLAN_TUNNEL',
      enabled: true,
      vrf: routing.mainVrf,
      vxlan: { src_address: nodeIp(input)!, dst_address: address, vni: DEFAULT_VNI },
    }),
    keyValue(vppArpModel, {
      interface: VXLAN_BVI,
      ip_address: nextHop,
      phys_address: bviMac(node.id),
      static: true,
    }),
    keyValue(fibEntryModel, {
      bridge_domain: VXLAN_BRIDGE_DOMAIN,
      phys_address: bviMac(node.id),
      action: 'FORWARD',
      outgoing_interface: vxlanTunnel(node.id),
      static_config: true,
    }),
    ...networks.map(route),
  ];
  const vppSide = node.vppAddresses.map(withoutPrefixLength);
  for (const one of management) {
    values.push(route(hostNetwork(one)));
    // the tunnel endpoint itself must not be routed through the tunnel; with STN, a host has no other
    // address than its VPP. Then the main VRF does not lead there what NAT44 sends to the host
    const isTunnelEnd = vppSide.includes(one) || input.stn;
    if (!isTunnelEnd) values.push(interVrfRoute(hostNetwork(one), routing.mainVrf, routing.podVrf));
    else if (input.family === 4 && familyOf(one) === 4)
      values.push(interVrfRoute(hostNetwork(one), NAT_LINK_TABLE, routing.podVrf));
  }
  return values;
}

function withoutOverlay(
  input: NodeInput,
  address: string,
  networks: readonly string[],
  management: readonly string[],
): KeyValue[] {
  const destinations = [
    ...networks,
    ...management.filter((one) => one !== address).map(hostNetwork),
  ];
  return destinations.map((destination) =>
    keyValue(vppRouteModel, {
      vrf_id: input.routing.mainVrf,
      dst_network: destination,
      next_hop_addr: address,
    }),
  );
}
