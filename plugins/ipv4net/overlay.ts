/** Routes to the other nodes, by VXLAN, by WireGuard or without overlay (value 16 of the original). */
import { errorText } from '#infra/errors/errors.ts';
import { familyOf } from '#models/ip.ts';
import { vppArpModel } from '#models/vpp/arp.ts';
import { type BridgeDomainInterface, bridgeDomainModel } from '#models/vpp/bridge-domain.ts';
import { fibEntryModel } from '#models/vpp/fib-entry.ts';
import { vppInterfaceModel } from '#models/vpp/interface.ts';
import { vppRouteModel } from '#models/vpp/route.ts';
import { type KeyValue, keyValue } from '#plugins/controller/api/key-value.ts';
import type { Node } from '#plugins/nodesync/api.ts';
import { NAT_LINK_TABLE } from './api.ts';
import { dropRoute } from './drop-route.ts';
import { interVrfRoute } from './inter-vrf-route.ts';
import {
  bviMac,
  VXLAN_BRIDGE_DOMAIN,
  VXLAN_BVI,
  vxlanTunnel,
  wireguardInterface,
} from './names.ts';
import {
  type FamilyInput,
  type FamilyNetwork,
  hasOverlay,
  hostNetwork,
  type NodeInput,
  nodeIp,
  ofAllFamilies,
  usesVxlan,
  withoutPrefixLength,
} from './node-input.ts';
import type { NodeWay } from './node-way.ts';
import { SPLIT_HORIZON_GROUP } from './tunnel-members.ts';
import { peerValues, wireguardInterfaces } from './wireguard.ts';

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
  if (hasOverlay(input)) return addresses.find((address) => familyOf(address) === familyOf(own));
  // next hops have the families of the pods; see `whyUnreachable` about nodes without such an address
  return nextHop(input.networks[0], addresses) ?? addresses[0];
}

/** Address of another node, of those of its VPP, that can be the next hop of routes of a family. */
function nextHop(
  { family }: Pick<FamilyNetwork, 'family'>,
  addresses: readonly string[],
): string | undefined {
  return addresses.find((address) => familyOf(address) === family);
}

/**
 * Why a node cannot be configured; undefined if it can. Node records are untrusted, and an ID outside
 * of the address plan must not affect the other nodes.
 */
export function whyUnreachable(input: NodeInput, node: Node): string | undefined {
  if (node.id === input.nodeId) return `it has the ID ${node.id} of this node`;
  try {
    for (const network of input.networks) {
      networksOf(network, node);
      if (hasOverlay(input)) network.addresses.vxlanAddress(node.id);
    }
  } catch (thrown) {
    return `the address plan has no addresses for its ID ${node.id}: ${errorText(thrown)}`;
  }
  if (hasOverlay(input)) return undefined;
  return whyNoNextHop(input.networks[0], input, node);
}

/**
 * Why pods reach those of a node only in their primary family; undefined if they reach them in all. It is so while
 * a cluster gets its second family node by node.
 */
export function whyInOneFamily(input: NodeInput, node: Node): string | undefined {
  if (hasOverlay(input)) return undefined;
  const [, ...others] = input.networks;
  const reasons = others.map((network) => whyNoNextHop(network, input, node));
  return reasons.find((reason) => reason !== undefined);
}

/** Why a node cannot be the next hop of routes to its pods; undefined if it can. */
function whyNoNextHop(
  { family }: FamilyNetwork,
  { main }: NodeInput,
  node: Node,
): string | undefined {
  const isOfPods = (cidr: string): boolean => familyOf(cidr) === family;
  const needed = `IPv${family} address of its VPP, which pods of IPv${family} need without an overlay`;
  if (!main.addresses.some(isOfPods)) return `this node has no ${needed}`;
  return node.vppAddresses.some(isOfPods) ? undefined : `it has announced no ${needed}`;
}

/** Networks behind a node, besides its own addresses. */
function networksOf({ addresses }: FamilyNetwork, { id }: Node): string[] {
  return [addresses.podSubnetOtherNode(id), addresses.hostInterconnectSubnetOtherNode(id)];
}

/** Interfaces and the bridge domain by which all other nodes are reached. */
export function overlayValues(
  input: NodeInput,
  tunnels: readonly BridgeDomainInterface[],
): KeyValue[] {
  return [
    ...wireguardInterfaces(input),
    ...(usesVxlan(input) ? bridgeDomainValues(input, tunnels) : []),
  ];
}

/** The bridge domain of the tunnels and its BVI. */
function bridgeDomainValues(
  input: NodeInput,
  tunnels: readonly BridgeDomainInterface[],
): KeyValue[] {
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
      ip_addresses: input.networks.map(({ addresses }) => addresses.vxlanAddress(input.nodeId)),
      // VPP fragments what comes from outside for pods of other nodes, and would be too large in a tunnel
      mtu: input.interfaces.mtu,
    }),
    {
      key: bridgeDomainModel.key(domain),
      value: Object.freeze({ ...domain, interfaces: Object.freeze(interfaces) }),
    },
  ];
}

/** Addresses of another node, without prefix length: see `RemoteAddresses`. */
export interface NodeAddresses {
  /** Of its VPP, at which it can be reached. */
  readonly ends: readonly string[];
  /** Of these, those from which it may send. */
  readonly sources: readonly string[];
  /** Of its host, those that get routes. */
  readonly management: readonly string[];
}

/** @param address of the node, see `reachableAt` */
export function remoteNodeValues(
  input: NodeInput,
  node: Node,
  way: NodeWay,
  address: string,
  { ends, sources, management }: NodeAddresses,
): KeyValue[] {
  const ofFamily = ({ family }: FamilyInput): readonly string[] =>
    management.filter((each) => familyOf(each) === family);
  switch (way.kind) {
    case 'nooverlay':
      return ofAllFamilies(input, (one) =>
        withoutOverlay(one, node, nextHop(one, [address, ...ends]), ofFamily(one)),
      );
    case 'isolated':
      return ofAllFamilies(input, (one) => behindNode(one, node, ofFamily(one), [drops(one)]));
    case 'vxlan':
      return [
        ...tunnel(input, node, address),
        ...ofAllFamilies(input, (one) => [
          neighbor(one, node),
          ...behindNode(one, node, ofFamily(one), [leadsThrough(one, node, VXLAN_BVI)]),
        ]),
      ];
    case 'wireguard': {
      const networks = input.networks.flatMap((one) => networksOf(one, node));
      const routes = (one: FamilyInput): readonly RouteTo[] =>
        way.used.length === 0
          ? [drops(one)]
          : way.used.map((slot) => leadsThrough(one, node, wireguardInterface(slot)));
      return [
        ...peerValues(input, node, address, way.peers, networks, [...sources, ...management]),
        // VPP drops the peer of a next hop that no route has
        ...ofAllFamilies(input, (one) =>
          way.peers.map(({ slot }) =>
            leadsThrough(
              one,
              node,
              wireguardInterface(slot),
            )(hostNetwork(overlayAddress(one, node))),
          ),
        ),
        ...ofAllFamilies(input, (one) => behindNode(one, node, ofFamily(one), routes(one))),
      ];
    }
  }
}

/** The tunnel carries all families. */
function tunnel(input: NodeInput, node: Node, address: string): KeyValue[] {
  return [
    keyValue(vppInterfaceModel, {
      name: vxlanTunnel(node.id),
      type: 'VXLAN_TUNNEL',
      enabled: true,
      vrf: input.routing.mainVrf,
      vxlan: { src_address: nodeIp(input)!, dst_address: address, vni: DEFAULT_VNI },
    }),
    keyValue(fibEntryModel, {
      bridge_domain: VXLAN_BRIDGE_DOMAIN,
      phys_address: bviMac(node.id),
      action: 'FORWARD',
      outgoing_interface: vxlanTunnel(node.id),
      static_config: true,
    }),
  ];
}

/** Makes a path of the route of the pods' VRF to a network behind a node. */
type RouteTo = (destination: string) => KeyValue;

/** The address of a node in the overlay: with WireGuard, too, it is the next hop by which VPP finds the peer. */
function overlayAddress({ addresses }: FamilyInput, node: Node): string {
  return withoutPrefixLength(addresses.vxlanAddress(node.id));
}

function leadsThrough(input: FamilyInput, node: Node, outgoingInterface: string): RouteTo {
  const gateway = overlayAddress(input, node);
  return (destination) =>
    keyValue(vppRouteModel, {
      vrf_id: input.routing.podVrf,
      dst_network: destination,
      next_hop_addr: gateway,
      outgoing_interface: outgoingInterface,
    });
}

function drops({ routing }: FamilyInput): RouteTo {
  return (destination) => dropRoute(destination, routing.podVrf);
}

function neighbor(input: FamilyInput, node: Node): KeyValue {
  return keyValue(vppArpModel, {
    interface: VXLAN_BVI,
    ip_address: overlayAddress(input, node),
    phys_address: bviMac(node.id),
    static: true,
  });
}

/** Routes to what is behind a node, however it is reached. */
function behindNode(
  input: FamilyInput,
  node: Node,
  management: readonly string[],
  paths: readonly RouteTo[],
): KeyValue[] {
  const { routing } = input;
  const routes = (destination: string): KeyValue[] => paths.map((path) => path(destination));
  const values = networksOf(input, node).flatMap(routes);
  const vppSide = node.vppAddresses.map(withoutPrefixLength);
  for (const one of management) {
    values.push(...routes(hostNetwork(one)));
    // the tunnel endpoint itself must not be routed through the tunnel; with STN, a host has no other
    // address than its VPP. Then the main VRF does not lead there what NAT44 sends to the host
    const isTunnelEnd = vppSide.includes(one) || input.stn;
    if (!isTunnelEnd) values.push(interVrfRoute(hostNetwork(one), routing.mainVrf, routing.podVrf));
    else if (input.family === 4)
      values.push(interVrfRoute(hostNetwork(one), NAT_LINK_TABLE, routing.podVrf));
  }
  return values;
}

/** @param address next hop of the family; undefined: the node has announced none, see `whyInOneFamily` */
function withoutOverlay(
  input: FamilyInput,
  node: Node,
  address: string | undefined,
  management: readonly string[],
): KeyValue[] {
  if (address === undefined) return [];
  const destinations = [
    ...networksOf(input, node),
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
