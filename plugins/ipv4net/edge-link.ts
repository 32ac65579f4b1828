/**
 * The link at whose output source NAT translates. At the output of the uplink each packet of the tunnels to other nodes would
 * pass NAT44, too, only to keep its address. So what leaves the pods for the networks outside takes this link to the main VRF,
 * and there the way of every other packet. It is in the main VRF itself: NAT44 finds the session of a reply by the VRF of the
 * interface at which it made it.
 *
 * What leaves the main VRF by itself, as packets of the host, keeps its source: it is an address of the node.
 */
import { familyOf, formatCidr, network, parseCidr } from '#models/ip.ts';
import type { KeyValue } from '#plugins/controller/api/key-value.ts';
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

const address = { own: '169.254.254.245/30', neighbor: '169.254.254.246' } as const;

export function edgeLinkValues(input: NodeInput): KeyValue[] {
  const { nodeId, routing } = input;
  if (!hasEdgeLink(input)) return [];
  return [
    ...loopedLinkValues(linkTo(routing.mainVrf), [4], edgeLinkMac(nodeId)),
    // a packet to the neighbor would come in by the link again and again
    dropRoute(hostNetwork(address.neighbor), routing.mainVrf),
  ];
}

/** The way of a table of packets from pods to the networks outside. */
export function toOutside(input: FamilyInput, table: number): KeyValue {
  const { family, routing } = input;
  return family === 4 && hasEdgeLink(input)
    ? routeOverLink(linkTo(routing.mainVrf), 4, table, anyNetwork(4))
    : interVrfRoute(anyNetwork(family), table, routing.mainVrf);
}

/** Destinations of pods in the main VRF for which they keep their source: this node, and the networks of its other NICs. */
export function pastEdgeLink(input: FamilyInput, table: number): KeyValue[] {
  if (input.family !== 4 || !hasEdgeLink(input)) return [];
  const own = nodeIpOf(input, 4);
  const networks = input.others
    .flatMap(({ addresses }) => addresses)
    .flatMap((text) => parseCidr(text) ?? [])
    .map((cidr) => formatCidr(network(cidr)));
  const all = new Set([...(own === undefined ? [] : [hostNetwork(own)]), ...networks]);
  return [...all]
    .filter((one) => familyOf(one) === 4)
    .map((one) => interVrfRoute(one, table, input.routing.mainVrf));
}

function hasEdgeLink(input: NodeInput): boolean {
  return uplinkOf(input)?.edgeLink !== undefined;
}

function linkTo(table: number): LoopedLink {
  return { name: EDGE_LINK, table, addresses: { 4: address } };
}
