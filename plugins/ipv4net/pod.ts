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
import { familyOfAddress } from '#plugins/ipam/api.ts';
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
import {
  anyNetwork,
  type FamilyInput,
  familyInput,
  hostNetwork,
  type NodeInput,
} from './node-input.ts';

/** An address of a pod, and the network of the node in its family. */
interface PodAddress {
  readonly address: string;
  readonly input: FamilyInput;
}

/**
 * @param addresses of the pod, without prefix length; none only if neither they nor the namespace of an
 *   adopted attachment are known
 */
export function podValues(
  input: NodeInput,
  attachment: Attachment,
  addresses: readonly string[],
  kubeState: KubeState,
): KeyValue[] {
  const names = podLinkNames(attachment, input.interfaces.useTap);
  const passesNat = wantsPackets(kubeState, attachment.pod);
  const own = inTheirFamilies(input, addresses);
  return [
    ...(input.interfaces.useTap ? tapVppSide : vethHostSide)(input, attachment, names),
    ...own.flatMap((one) => wayToPod(one, attachment, names, passesNat)),
    // without its namespace the pod keeps what it has
    ...(own.length === 0 || attachment.networkNamespace === ''
      ? []
      : insidePod(input, attachment, names, own)),
  ];
}

/** Without those of a family that the pods of the cluster do not have any more. */
function inTheirFamilies(input: NodeInput, addresses: readonly string[]): PodAddress[] {
  return addresses.flatMap((address) => {
    const found = familyInput(input, familyOfAddress(address));
    return found ? [{ address, input: found }] : [];
  });
}

function insidePod(
  input: NodeInput,
  attachment: Attachment,
  names: PodLinkNames,
  addresses: readonly PodAddress[],
): KeyValue[] {
  const end = podEnd(input, attachment, names, addresses);
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
    ...addresses.flatMap((one) => gatewayOfPod(one.input, attachment, names)),
  ];
}

/** The gateway of a family, and the routes to and over it. */
function gatewayOfPod(input: FamilyInput, attachment: Attachment, names: PodLinkNames): KeyValue[] {
  const gateway = input.addresses.podGateway();
  const metric = routeMetric(attachment.interfaceName);
  return [
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

/** @param passesNat whether packets to the pod pass NAT44 */
function wayToPod(
  { input, address }: PodAddress,
  attachment: Attachment,
  names: PodLinkNames,
  passesNat: boolean,
): KeyValue[] {
  const podNetwork = hostNetwork(address);
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
    ...(passesNat && input.family === 4
      ? podOverNatLink(input, way)
      : [keyValue(vppRouteModel, { ...way, vrf_id: input.routing.podVrf })]),
    // the host's route to the pod subnet does not cover addresses of an external IPAM
    ...(input.externalIpam ? hostRouteToVpp(input, podNetwork) : []),
  ];
}

/** Reply to the CNI. */
export function podReply(
  input: NodeInput,
  attachment: Attachment,
  addresses: readonly string[],
): AddPodReply {
  const own = inTheirFamilies(input, addresses);
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
        addresses: own.map((one) => ({
          family: one.input.family,
          address: hostNetwork(one.address),
          gateway: one.input.addresses.podGateway(),
        })),
      },
    ],
    routes: own.map((one) => ({
      destination: anyNetwork(one.input.family),
      gateway: one.input.addresses.podGateway(),
    })),
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

function podEnd(
  input: NodeInput,
  attachment: Attachment,
  names: PodLinkNames,
  addresses: readonly PodAddress[],
) {
  return {
    name: names.linux,
    namespace: namespaceOf(attachment),
    host_if_name: names.linuxHost,
    enabled: true,
    mtu: input.interfaces.mtu,
    phys_address: podMacs(attachment).linux,
    ip_addresses: addresses.map(({ address }) => hostNetwork(address)),
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
