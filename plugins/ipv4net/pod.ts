/** The wiring of one attachment (value 18 of the original). */
import { linuxArpModel } from '#models/linux/arp.ts';
import { linuxInterfaceModel } from '#models/linux/interface.ts';
import { linuxRouteModel } from '#models/linux/route.ts';
import type { DeepInput } from '#models/model.ts';
import { vppArpModel } from '#models/vpp/arp.ts';
import { type VppInterface, vppInterfaceModel } from '#models/vpp/interface.ts';
import { vppRouteModel } from '#models/vpp/route.ts';
import type { KubeState } from '#plugins/controller/api/event-handler.ts';
import { type KeyValue, keyValue } from '#plugins/controller/api/key-value.ts';
import { type AddPodReply, type Attachment, wantsPackets } from '#plugins/podmanager/api.ts';
import { hostRouteToVpp, tapSettings, vethSettings } from './host-link.ts';
import {
  POD_GATEWAY_LOOPBACK,
  type PodLinkNames,
  podLinkNames,
  podMacs,
  routeMetric,
} from './names.ts';
import { podOverNatLink } from './nat-link.ts';
import { rxModes } from './nics.ts';
import { anyNetwork, hostNetwork, type NodeInput } from './node-input.ts';

/**
 * @param address of the pod, without prefix length; undefined only if neither it nor the namespace of an
 *   adopted attachment is known
 */
export function podValues(
  input: NodeInput,
  attachment: Attachment,
  address: string | undefined,
  kubeState: KubeState,
): KeyValue[] {
  const names = podLinkNames(attachment, input.interfaces.useTap);
  const passesNat = input.family === 4 && wantsPackets(kubeState, attachment.pod);
  return [
    ...(input.interfaces.useTap ? tapVppSide : vethHostSide)(input, attachment, names),
    ...(address === undefined ? [] : wayToPod(input, attachment, { names, address, passesNat })),
    // without its namespace the pod keeps what it has
    ...(address === undefined || attachment.networkNamespace === ''
      ? []
      : insidePod(input, attachment, names, address)),
  ];
}

function insidePod(
  input: NodeInput,
  attachment: Attachment,
  names: PodLinkNames,
  address: string,
): KeyValue[] {
  const gateway = input.addresses.podGateway();
  const metric = routeMetric(attachment.interfaceName);
  const end = podEnd(input, attachment, names, address);
  return [
    podLoopback(input, attachment, names),
    input.interfaces.useTap
      ? keyValue(linuxInterfaceModel, {
          ...end,
          type: 'TAP_TO_VPP',
          tap: { vpp_tap_if_name: names.vpp },
        })
      : keyValue(linuxInterfaceModel, {
          ...end,
          type: 'VETH',
          veth: vethSettings(names.peer),
        }),
    keyValue(linuxArpModel, {
      interface: names.linux,
      ip_address: gateway,
      hw_address: podMacs(attachment).vpp,
    }),
    keyValue(linuxRouteModel, {
      outgoing_interface: names.linux,
      scope: 'LINK',
      dst_network: hostNetwork(gateway),
      metric,
    }),
    keyValue(linuxRouteModel, {
      outgoing_interface: names.linux,
      scope: 'GLOBAL',
      dst_network: anyNetwork(input.family),
      gw_addr: gateway,
      metric,
    }),
  ];
}

interface WayToPod {
  readonly names: PodLinkNames;
  readonly address: string;
  /** Whether packets to the pod pass NAT44. */
  readonly passesNat: boolean;
}

function wayToPod(
  input: NodeInput,
  attachment: Attachment,
  { names, address, passesNat }: WayToPod,
): KeyValue[] {
  const podNetwork = podNetworkOf(input, address);
  const way = {
    dst_network: podNetwork,
    next_hop_addr: address,
    outgoing_interface: names.vpp,
  };
  return [
    keyValue(vppArpModel, {
      interface: names.vpp,
      ip_address: address,
      phys_address: podMacs(attachment).linux,
      static: true,
    }),
    ...(passesNat
      ? podOverNatLink(input, way)
      : [keyValue(vppRouteModel, { ...way, vrf_id: input.routing.podVrf })]),
    // the host's route to the pod subnet does not cover addresses of an external IPAM
    ...(input.externalIpam ? hostRouteToVpp(input, podNetwork) : []),
  ];
}

function podNetworkOf(input: NodeInput, address: string): string {
  return `${address}/${input.addresses.hostPrefixLength}`;
}

/** Reply to the CNI. */
export function podReply(input: NodeInput, attachment: Attachment, address: string): AddPodReply {
  const gateway = input.addresses.podGateway();
  const names = podLinkNames(attachment, input.interfaces.useTap);
  return {
    // The interface of the pod must be the last one: the original contiv-cni assigns all addresses to
    // the last interface.
    interfaces: [
      // Chained CNI plugins look for the host end of the veth.
      ...(input.interfaces.useTap
        ? []
        : [{ name: names.peerHost, mac: '', sandbox: '', addresses: [] }]),
      {
        name: names.linuxHost,
        mac: podMacs(attachment).linux,
        sandbox: attachment.networkNamespace,
        addresses: [
          {
            family: input.family,
            address: podNetworkOf(input, address),
            gateway,
          },
        ],
      },
    ],
    routes: [{ destination: anyNetwork(input.family), gateway }],
  };
}

function namespaceOf(attachment: Attachment) {
  return { type: 'FD', reference: attachment.networkNamespace } as const;
}

function podLoopback(input: NodeInput, attachment: Attachment, names: PodLinkNames): KeyValue {
  return keyValue(linuxInterfaceModel, {
    name: names.loopback,
    type: 'LOOPBACK',
    namespace: namespaceOf(attachment),
    enabled: true,
    ip_addresses: ['127.0.0.1/8', ...(input.ipv6InPods ? ['::1/128'] : [])],
  });
}

/** Unnumbered: links to pods borrow the address of the gateway loopback. */
function vppSide(
  input: NodeInput,
  attachment: Attachment,
  names: PodLinkNames,
): DeepInput<VppInterface> {
  return {
    name: names.vpp,
    enabled: true,
    vrf: input.routing.podVrf,
    mtu: input.interfaces.mtu,
    phys_address: podMacs(attachment).vpp,
    unnumbered: { interface_with_ip: POD_GATEWAY_LOOPBACK },
    rx_modes: rxModes(input.interfaces),
  };
}

function podEnd(input: NodeInput, attachment: Attachment, names: PodLinkNames, address: string) {
  return {
    name: names.linux,
    namespace: namespaceOf(attachment),
    host_if_name: names.linuxHost,
    enabled: true,
    mtu: input.interfaces.mtu,
    phys_address: podMacs(attachment).linux,
    ip_addresses: [podNetworkOf(input, address)],
  };
}

function tapVppSide(input: NodeInput, attachment: Attachment, names: PodLinkNames): KeyValue[] {
  return [
    keyValue(vppInterfaceModel, {
      ...vppSide(input, attachment, names),
      type: 'TAP',
      tap: { ...tapSettings(input.interfaces), host_namespace: attachment.networkNamespace },
    }),
  ];
}

/** VPP's interface, and the end of the veth pair to which it is bound. */
function vethHostSide(input: NodeInput, attachment: Attachment, names: PodLinkNames): KeyValue[] {
  return [
    keyValue(vppInterfaceModel, {
      ...vppSide(input, attachment, names),
      type: 'AF_PACKET',
      afpacket: { host_if_name: names.peerHost },
    }),
    keyValue(linuxInterfaceModel, {
      name: names.peer,
      type: 'VETH',
      host_if_name: names.peerHost,
      enabled: true,
      mtu: input.interfaces.mtu,
      veth: { peer_if_name: names.linux },
    }),
  ];
}
