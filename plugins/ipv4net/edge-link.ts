/**
 * The link at which source NAT translates: NAT44 where packets leave by it, cnat where they come in again. At the uplink each packet of
 * the tunnels to other nodes would pass, too, only to keep its address. So what leaves the pods for the networks outside takes this link
 * to the main VRF, and there the way of every other packet. It is in the main VRF itself: both find the session of a reply by the VRF of
 * the interface at which they made it.
 *
 * What leaves the main VRF by itself, as packets of the host, keeps its source: it is an address of the node.
 */
import { familyOf, formatCidr, type IpFamily, network, parseCidr } from '#models/ip.ts';
import { cnatSourceNatModel } from '#models/vpp/cnat-source-nat.ts';
import { cnatTranslationModel } from '#models/vpp/cnat-translation.ts';
import { type KeyValue, keyValue } from '#plugins/controller/api/key-value.ts';
import { cnatLinkHop } from './api.ts';
import { routeOverCnatLink } from './cnat-link.ts';
import { dropRoute } from './drop-route.ts';
import { interVrfRoute } from './inter-vrf-route.ts';
import { type LoopedLink, loopedLinkValues, routeOverLink } from './looped-link.ts';
import { EDGE_LINK, edgeLinkMac } from './names.ts';
import {
  anyNetwork,
  type FamilyInput,
  hostNetwork,
  type NodeInput,
  nodeIpOf,
} from './node-input.ts';
import { uplinkOf } from './uplink.ts';

const addresses = {
  4: { own: '169.254.254.245/30', neighbor: '169.254.254.246' },
  6: { own: 'fdfe:feed:c0de::9/126', neighbor: 'fdfe:feed:c0de::a' },
} as const;

export function edgeLinkValues(input: NodeInput): KeyValue[] {
  const { nodeId, routing, networks } = input;
  const families = networks.map(({ family }) => family).filter((one) => hasEdgeLink(input, one));
  if (families.length === 0) return [];
  return [
    ...loopedLinkValues(linkTo(routing.mainVrf), families, edgeLinkMac(nodeId)),
    // a packet to the neighbor would come in by the link again and again
    ...families.map((one) => dropRoute(hostNetwork(addresses[one].neighbor), routing.mainVrf)),
    ...(families.includes(6) ? sourceNatOfIpv6(nodeIpOf(input, 6)!) : []),
  ];
}

/** Replies find their session where a translation has put cnat before the address: one of a port that nothing uses. */
function sourceNatOfIpv6(address: string): KeyValue[] {
  return [
    keyValue(cnatSourceNatModel, { interface: EDGE_LINK, address }),
    keyValue(cnatTranslationModel, {
      external_ip: address,
      external_port: 0,
      protocol: 'TCP',
      backends: [{ ip_address: cnatLinkHop.next_hop_addr, port: 0 }],
    }),
  ];
}

/** The way of a table of packets from pods to the networks outside. */
export function toOutside(input: FamilyInput, table: number): KeyValue {
  const { family, routing } = input;
  return hasEdgeLink(input, family)
    ? routeOverLink(linkTo(routing.mainVrf), family, table, anyNetwork(family))
    : interVrfRoute(anyNetwork(family), table, routing.mainVrf);
}

/**
 * Destinations of pods in the main VRF for which they keep their source: this node, its host, and the networks of its other NICs. In
 * IPv4 the host has routes in the VRF of the pods; replies to clients of IPv6 have to pass cnat.
 */
export function pastEdgeLink(input: FamilyInput, table: number): KeyValue[] {
  const { family, routing, hostAddresses } = input;
  if (!hasEdgeLink(input, family)) return [];
  const own = nodeIpOf(input, family);
  const ofNics = input.others
    .flatMap(({ addresses: some }) => some)
    .filter((one) => familyOf(one) === family)
    .flatMap((one) => parseCidr(one) ?? [])
    .map((cidr) => formatCidr(network(cidr)));
  const ofNode = own === undefined ? [] : [hostNetwork(own)];
  return family === 4
    ? [...new Set([...ofNode, ...ofNics])].map((one) => interVrfRoute(one, table, routing.mainVrf))
    : [...new Set([...ofNode, ...hostAddresses.map(hostNetwork), ...ofNics])].map((one) =>
        routeOverCnatLink(table, one),
      );
}

function hasEdgeLink(input: NodeInput, family: IpFamily): boolean {
  return uplinkOf(input, family)?.edgeLink !== undefined;
}

function linkTo(table: number): LoopedLink {
  return { name: EDGE_LINK, table, addresses };
}
