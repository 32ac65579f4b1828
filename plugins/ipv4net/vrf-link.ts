/**
 * The link between the two VRFs: a loopback in a VRF of its own. A packet that is routed to the neighbor behind it
 * comes in again by the same interface, because a loopback receives what it transmits, and is then routed to
 * the other VRF. So what passes between pods and the networks outside has an interface in VPP at which ACLs see
 * the address of the pod: at the uplink they come after source NAT.
 *
 * Packets between this node and its pods, and those that NAT moves to the other VRF, do not need it.
 */
import { vppArpModel } from '#models/vpp/arp.ts';
import { vppInterfaceModel } from '#models/vpp/interface.ts';
import { vppRouteModel } from '#models/vpp/route.ts';
import { vrfTableModel } from '#models/vpp/vrf-table.ts';
import { type KeyValue, keyValue } from '#plugins/controller/api/key-value.ts';
import { VRF_LINK_TABLE } from './api.ts';
import { interVrfRoute } from './inter-vrf-route.ts';
import { VRF_LINK, vrfLinkMac } from './names.ts';
import { anyNetwork, type NodeInput } from './node-input.ts';

/** Own address with prefix length, and that of the neighbor, which no interface has. */
const linkAddresses = {
  4: { own: '169.254.254.253/30', neighbor: '169.254.254.254' },
  6: { own: 'fdfe:feed:c0de::1/126', neighbor: 'fdfe:feed:c0de::2' },
} as const;

export function vrfLinkValues(input: NodeInput): KeyValue[] {
  const { family, nodeId, routing } = input;
  const { own, neighbor } = linkAddresses[family];
  return [
    keyValue(vrfTableModel, {
      id: VRF_LINK_TABLE,
      protocol: `IPV${family}`,
      label: `vrfLink-IPv${family}`,
    }),
    keyValue(vppInterfaceModel, {
      name: VRF_LINK,
      type: 'SOFTWARE_LOOPBACK',
      enabled: true,
      vrf: VRF_LINK_TABLE,
      phys_address: vrfLinkMac(nodeId),
      ip_addresses: [own],
    }),
    keyValue(vppArpModel, {
      interface: VRF_LINK,
      ip_address: neighbor,
      phys_address: vrfLinkMac(nodeId),
      static: true,
    }),
    throughVrfLink(input, routing.podVrf, anyNetwork(family)),
    interVrfRoute(anyNetwork(family), VRF_LINK_TABLE, routing.mainVrf),
    throughVrfLink(input, routing.mainVrf, podNetwork(input)),
    interVrfRoute(podNetwork(input), VRF_LINK_TABLE, routing.podVrf),
  ];
}

/** Network of the pods that the VRF of the pods reaches. */
function podNetwork({ addresses, routing }: NodeInput): string {
  return routing.transport === 'vxlan'
    ? addresses.podSubnetAllNodes()
    : addresses.podSubnetThisNode();
}

function throughVrfLink({ family }: NodeInput, vrf: number, destination: string): KeyValue {
  return keyValue(vppRouteModel, {
    vrf_id: vrf,
    dst_network: destination,
    next_hop_addr: linkAddresses[family].neighbor,
    outgoing_interface: VRF_LINK,
  });
}
