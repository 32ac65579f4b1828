/**
 * The link between the two VRFs. What passes between pods and the networks outside has an interface in VPP at which
 * ACLs see the address of the pod: at the uplink they come after source NAT.
 *
 * Packets between this node and its pods, and those that NAT moves to the other VRF, do not need it.
 */
import type { KeyValue } from '#plugins/controller/api/key-value.ts';
import { VRF_LINK_TABLE } from './api.ts';
import { dropRoute } from './drop-route.ts';
import { pastEdgeLink, toOutside } from './edge-link.ts';
import { interVrfRoute } from './inter-vrf-route.ts';
import { type LoopedLink, linkTable, loopedLinkValues, routeOverLink } from './looped-link.ts';
import { VRF_LINK, vrfLinkMac } from './names.ts';
import {
  anyNetwork,
  type FamilyInput,
  type NodeInput,
  ofAllFamilies,
  podNetwork,
} from './node-input.ts';

const link: LoopedLink = {
  name: VRF_LINK,
  table: VRF_LINK_TABLE,
  addresses: {
    4: { own: '169.254.254.253/30', neighbor: '169.254.254.254' },
    6: { own: 'fdfe:feed:c0de::1/126', neighbor: 'fdfe:feed:c0de::2' },
  },
};

/** Those of the addresses of the link. */
const networks = { 4: '169.254.254.252/30', 6: 'fdfe:feed:c0de::/126' } as const;

export function vrfLinkValues(input: NodeInput): KeyValue[] {
  const families = input.networks.map(({ family }) => family);
  return [
    ...loopedLinkValues(link, families, vrfLinkMac(input.nodeId)),
    ...ofAllFamilies(input, linkRoutes),
  ];
}

function linkRoutes(input: FamilyInput): KeyValue[] {
  const { family, routing } = input;
  const overLink = (vrf: number, destination: string): KeyValue =>
    routeOverLink(link, family, vrf, destination);
  return [
    linkTable(link, family),
    overLink(routing.podVrf, anyNetwork(family)),
    // a packet of a pod to the neighbor would come in by the link again and again
    dropRoute(networks[family], routing.podVrf),
    toOutside(input, VRF_LINK_TABLE),
    ...pastEdgeLink(input, VRF_LINK_TABLE),
    overLink(routing.mainVrf, podNetwork(input)),
    interVrfRoute(podNetwork(input), VRF_LINK_TABLE, routing.podVrf),
  ];
}
