/**
 * The link over which replies come to NAT44 whose clients it has replaced, those to pods whose packets it translates, and
 * what pods send to the host of this node. NAT44 finds the session of a reply by the VRF in which the reply comes in: it
 * is that of this link, whatever interface the backend has. So the interfaces of pods need no NAT.
 *
 * No ACL is bound to it: packets to the host pass a table where they leave to it, and replies to clients outside are permitted.
 */
import { vppRouteModel } from '#models/vpp/route.ts';
import { type KeyValue, keyValue } from '#plugins/controller/api/key-value.ts';
import { HOST_REPLIES_TABLE, NAT_LINK_TABLE } from './api.ts';
import { dropRoute } from './drop-route.ts';
import { interVrfRoute, sourceRoute } from './inter-vrf-route.ts';
import { type LoopedLink, linkTable, loopedLinkValues, routeOverLink } from './looped-link.ts';
import { NAT_LINK, natLinkMac } from './names.ts';
import {
  anyNetwork,
  type FamilyInput,
  hasOverlay,
  hostNetwork,
  type NodeInput,
  podNetwork,
} from './node-input.ts';

/** Fields of a route to a pod, as those of its model, without the VRF. */
export interface PodRoute {
  readonly dst_network: string;
  readonly next_hop_addr: string;
  readonly outgoing_interface: string;
}

/** IPv4 alone, as NAT44. */
const link: LoopedLink = {
  name: NAT_LINK,
  table: NAT_LINK_TABLE,
  addresses: { 4: { own: '169.254.254.249/30', neighbor: '169.254.254.250' } },
};

/**
 * The way to a pod whose packets to services NAT44 translates: replies to it pass the link, from any backend.
 * @param way route to the pod
 */
export function podOverNatLink({ routing }: NodeInput, way: PodRoute): KeyValue[] {
  return [
    keyValue(vppRouteModel, { ...way, vrf_id: NAT_LINK_TABLE }),
    routeOverLink(link, 4, routing.podVrf, way.dst_network),
  ];
}

/** @param hosts networks of the host of this node, to which pods send over the link */
export function natLinkValues(input: FamilyInput, hosts: readonly string[]): KeyValue[] {
  const { addresses, nodeId, routing } = input;
  const natLoopback = hostNetwork(addresses.natLoopback());
  const overLink = (vrf: number, network: string): KeyValue => routeOverLink(link, 4, vrf, network);
  return [
    linkTable(link, 4),
    ...loopedLinkValues(link, [4], natLinkMac(nodeId)),
    ...[natLoopback, ...hosts].map((network) => overLink(routing.podVrf, network)),
    // replies of other nodes come in there
    ...(hasOverlay(input) ? [] : [overLink(routing.mainVrf, natLoopback)]),
    sourceRoute(anyNetwork(4), NAT_LINK_TABLE, HOST_REPLIES_TABLE),
    interVrfRoute(podNetwork(input), NAT_LINK_TABLE, routing.podVrf),
    // a packet without a session would come in by the link again
    dropRoute(natLoopback, NAT_LINK_TABLE),
  ];
}
