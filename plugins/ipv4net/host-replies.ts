/**
 * Replies that go back by the host. A client outside may ask a node port at a NIC of the host, which is none of VPP; the
 * kernel leads it to VPP (`socket/client-links.ts` of the services). After NAT44 such a reply has an address of the
 * host as its source, and no other packet has it that leads outside: so it is routed by its source, in this table. A pod
 * can forge such a source: the program at the link to VPP lets only replies of served ports leave.
 */
import { vrfTableModel } from '#models/vpp/vrf-table.ts';
import { type KeyValue, keyValue } from '#plugins/controller/api/key-value.ts';
import { HOST_REPLIES_TABLE, NAT_LINK_TABLE, POD_REPLIES_TABLE, VRF_LINK_TABLE } from './api.ts';
import { toOutside } from './edge-link.ts';
import { routesToHost } from './host-link.ts';
import { interVrfRoute } from './inter-vrf-route.ts';
import { anyNetwork, type FamilyInput, hasOverlay, nodeIpOf } from './node-input.ts';

export function hostRepliesValues(input: FamilyInput): KeyValue[] {
  const { addresses, routing } = input;
  // with STN the host and VPP share that address, and its clients come by VPP
  const own = nodeIpOf(input, 4);
  const ofHost = input.hostAddresses.filter((one) => one !== own);
  // the host would send replies to pods of other nodes back to VPP
  const toPods = hasOverlay(input) ? [] : [addresses.podSubnetAllNodes()];
  const tableOfSources = (id: number, label: string): KeyValue[] => [
    keyValue(vrfTableModel, { id, protocol: 'IPV4', label: `${label}-IPv4` }),
    ...routesToHost(input, id, ofHost),
  ];
  return [
    ...tableOfSources(HOST_REPLIES_TABLE, 'hostReplies'),
    interVrfRoute(anyNetwork(4), HOST_REPLIES_TABLE, routing.mainVrf),
    // what is no reply may be a packet of a pod whose source is to be translated
    ...tableOfSources(POD_REPLIES_TABLE, 'podReplies'),
    toOutside(input, POD_REPLIES_TABLE),
    ...[NAT_LINK_TABLE, VRF_LINK_TABLE].flatMap((table) =>
      toPods.map((network) => interVrfRoute(network, table, routing.mainVrf)),
    ),
  ];
}
