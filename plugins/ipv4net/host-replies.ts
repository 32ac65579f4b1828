/**
 * Replies that go back by the host. A client outside may ask a node port at a NIC of the host, which is none of VPP; the
 * kernel leads it to VPP (`socket/client-links.ts` of the services). After NAT44 such a reply has an address of the
 * host as its source, and no other packet has it that leads outside: so it is routed by its source, in this table. A pod
 * can forge such a source: the program at the link to VPP lets only replies of served ports leave.
 */
import { vrfTableModel } from '#models/vpp/vrf-table.ts';
import { type KeyValue, keyValue } from '#plugins/controller/api/key-value.ts';
import { HOST_REPLIES_TABLE, NAT_LINK_TABLE, VRF_LINK_TABLE } from './api.ts';
import { routesToHost } from './host-link.ts';
import { interVrfRoute } from './inter-vrf-route.ts';
import { anyNetwork, type NodeInput, nodeIp } from './node-input.ts';

export function hostRepliesValues(input: NodeInput): KeyValue[] {
  const { addresses, routing } = input;
  // with STN the host and VPP share that address, and its clients come by VPP
  const own = nodeIp(input);
  const ofHost = input.hostAddresses.filter((one) => one !== own);
  // the host would send replies to pods of other nodes back to VPP
  const toPods = routing.transport === 'vxlan' ? [] : [addresses.podSubnetAllNodes()];
  return [
    keyValue(vrfTableModel, {
      id: HOST_REPLIES_TABLE,
      protocol: 'IPV4',
      label: 'hostReplies-IPv4',
    }),
    ...routesToHost(input, HOST_REPLIES_TABLE, ofHost),
    interVrfRoute(anyNetwork(4), HOST_REPLIES_TABLE, routing.mainVrf),
    ...[NAT_LINK_TABLE, VRF_LINK_TABLE].flatMap((table) =>
      toPods.map((network) => interVrfRoute(network, table, routing.mainVrf)),
    ),
  ];
}
