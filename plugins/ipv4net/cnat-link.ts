/**
 * The link over which replies come to cnat, which translates addresses of IPv6 for clients outside. It finds the session of a
 * reply by the VRF of the interface at which the packet came in, and translates in table 0 alone. So what pods answer takes this
 * link into the main VRF: replies to the NAT loopback always, and those to clients that keep their addresses while there are such pods.
 */
import { vppRouteModel } from '#models/vpp/route.ts';
import { type KeyValue, keyValue } from '#plugins/controller/api/key-value.ts';
import { CNAT_TABLE, cnatLinkHop } from './api.ts';
import { dropRoute } from './drop-route.ts';
import { type LoopedLink, loopedLinkValues, routeOverLink } from './looped-link.ts';
import { cnatLinkMac } from './names.ts';
import { anyAddress, type FamilyInput, hostNetwork } from './node-input.ts';

const link: LoopedLink = {
  name: cnatLinkHop.outgoing_interface,
  table: CNAT_TABLE,
  addresses: { 6: { own: 'fdfe:feed:c0de::5/126', neighbor: cnatLinkHop.next_hop_addr } },
};

/** @param input of IPv6 */
export function cnatLinkValues({ addresses, nodeId, routing }: FamilyInput): KeyValue[] {
  if (routing.mainVrf !== CNAT_TABLE) return [];
  const natLoopback = hostNetwork(addresses.natLoopback());
  return [
    ...loopedLinkValues(link, [6], cnatLinkMac(nodeId)),
    // a packet to the neighbor would come in by the link again and again
    dropRoute(hostNetwork(cnatLinkHop.next_hop_addr), CNAT_TABLE),
    routeOverCnatLink(routing.podVrf, natLoopback),
    // so would one without a session; cnat translates before a route that refuses, but not before one that drops
    keyValue(vppRouteModel, {
      type: 'UNREACHABLE',
      vrf_id: CNAT_TABLE,
      dst_network: natLoopback,
      next_hop_addr: anyAddress(6),
    }),
  ];
}

/** @param destination in IPv6 */
export function routeOverCnatLink(vrf: number, destination: string): KeyValue {
  return routeOverLink(link, 6, vrf, destination);
}
