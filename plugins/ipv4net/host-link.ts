/** The link between VPP and the host, and the routes over it (values 4 to 7 of the original). */
import { linuxArpModel } from '#models/linux/arp.ts';
import { type LinuxInterface, linuxInterfaceModel } from '#models/linux/interface.ts';
import { linuxRouteModel } from '#models/linux/route.ts';
import type { DeepInput } from '#models/model.ts';
import { vppArpModel } from '#models/vpp/arp.ts';
import { type VppInterface, vppInterfaceModel } from '#models/vpp/interface.ts';
import { vppRouteModel } from '#models/vpp/route.ts';
import type { InterfaceConfig } from '#plugins/contivconf/api.ts';
import { type KeyValue, keyValue } from '#plugins/controller/api/key-value.ts';
import { hostInterconnectName, hostSideName } from './interconnect-names.ts';
import { hostLinkMac, hostSideMac, hostTap, hostVeth } from './names.ts';
import { mainInterfaceName, rxModes } from './nics.ts';
import {
  type FamilyInput,
  familyInputs,
  hostNetwork,
  type NodeInput,
  nodeIpOf,
  ofAllFamilies,
  withoutPrefixLength,
} from './node-input.ts';
import { STN_HOST_MAC, stnGateway, stnHostAddress } from './stn.ts';

export function hostLinkValues(input: NodeInput): KeyValue[] {
  return [
    ...(input.interfaces.useTap ? tapLink(input) : vethLink(input)),
    ...ofAllFamilies(input, (one) => [...(one.stn ? [] : neighbors(one)), ...routes(one)]),
  ];
}

function routes(input: FamilyInput): KeyValue[] {
  const { addresses, routing } = input;
  const services = routing.routeServiceCidrToVpp ? addresses.serviceSubnet() : '';
  return [
    ...routesToHost(input, routing.mainVrf, input.hostAddresses),
    ...hostRouteToVpp(input, addresses.podSubnetAllNodes()),
    ...(services === '' ? [] : hostRouteToVpp(input, services)),
  ];
}

/**
 * Both ends of the link are static neighbors of each other; `stnValues` has those with STN. VPP drops each
 * packet that makes it resolve an address. And it does not answer ARP requests from an address outside the
 * subnet of the link, as Linux sends them when it replies to a pod from another address of the host.
 */
function neighbors(input: FamilyInput): KeyValue[] {
  const host = withoutPrefixLength(input.addresses.hostInterconnectLinux());
  return [
    keyValue(vppArpModel, {
      interface: hostInterconnectName(input),
      ip_address: host,
      phys_address: hostSideMac(input.nodeId),
      static: true,
    }),
    // the neighbor has no route of its own, and the subnet of the link would resolve the address again
    routeToHost(input, input.routing.mainVrf, host, host),
    keyValue(linuxArpModel, {
      interface: hostSideName(input),
      ip_address: withoutPrefixLength(input.addresses.hostInterconnectVpp()),
      hw_address: hostLinkMac(input.nodeId),
    }),
  ];
}

/** Routes to addresses over the link. */
export function routesToHost(
  input: FamilyInput,
  vrf: number,
  addresses: readonly string[],
): KeyValue[] {
  const toHost = input.stn
    ? nodeIpOf(input, input.family)
    : withoutPrefixLength(input.addresses.hostInterconnectLinux());
  if (toHost === undefined) return [];
  return addresses.map((address) => routeToHost(input, vrf, address, toHost));
}

function routeToHost(input: NodeInput, vrf: number, address: string, nextHop: string): KeyValue {
  return keyValue(vppRouteModel, {
    vrf_id: vrf,
    dst_network: hostNetwork(address),
    next_hop_addr: nextHop,
    outgoing_interface: hostInterconnectName(input),
  });
}

/** Address of VPP for the host; undefined while it is unknown. */
export function hostGateway(input: FamilyInput): string | undefined {
  return input.stn ? stnGateway(input) : withoutPrefixLength(input.addresses.hostInterconnectVpp());
}

/** A route of the host to VPP; none while the gateway on the VPP side is unknown. */
export function hostRouteToVpp(input: FamilyInput, destination: string): KeyValue[] {
  const gateway = hostGateway(input);
  if (gateway === undefined) return [];
  return [
    keyValue(linuxRouteModel, {
      outgoing_interface: hostSideName(input),
      scope: 'GLOBAL',
      dst_network: destination,
      gw_addr: gateway,
    }),
  ];
}

function vppSide(input: NodeInput): DeepInput<VppInterface> {
  return {
    name: hostInterconnectName(input),
    enabled: true,
    vrf: input.routing.mainVrf,
    mtu: input.interfaces.mtu,
    phys_address: hostLinkMac(input.nodeId),
    // with STN, host and VPP share the address of the NIC
    ...(input.stn
      ? { unnumbered: { interface_with_ip: mainInterfaceName(input) } }
      : { ip_addresses: input.networks.map(({ addresses }) => addresses.hostInterconnectVpp()) }),
    rx_modes: rxModes(input.interfaces),
  };
}

function hostSide(input: NodeInput): DeepInput<LinuxInterface> {
  const own = familyInputs(input).flatMap((one) =>
    one.stn ? (stnHostAddress(one) ?? []) : one.addresses.hostInterconnectLinux(),
  );
  return {
    name: hostSideName(input),
    enabled: true,
    mtu: input.interfaces.mtu,
    phys_address: input.stn ? STN_HOST_MAC : hostSideMac(input.nodeId),
    ip_addresses: own,
  };
}

function tapLink(input: NodeInput): KeyValue[] {
  return [
    keyValue(vppInterfaceModel, {
      ...vppSide(input),
      type: 'TAP',
      // VPP cannot segment packets that it only punts to the host
      tap: { ...tapSettings(input.interfaces), ...(input.stn && { enable_gso: false }) },
    }),
    keyValue(linuxInterfaceModel, {
      ...hostSide(input),
      type: 'TAP_TO_VPP',
      host_if_name: hostTap.linuxHost,
      tap: { vpp_tap_if_name: hostTap.vpp },
    }),
  ];
}

function vethLink(input: NodeInput): KeyValue[] {
  const { mtu } = input.interfaces;
  return [
    keyValue(vppInterfaceModel, {
      ...vppSide(input),
      type: 'AF_PACKET',
      afpacket: { host_if_name: hostVeth.peerHost },
    }),
    keyValue(linuxInterfaceModel, {
      ...hostSide(input),
      type: 'VETH',
      host_if_name: hostVeth.linuxHost,
      veth: vethSettings(hostVeth.peer),
    }),
    keyValue(linuxInterfaceModel, {
      name: hostVeth.peer,
      type: 'VETH',
      host_if_name: hostVeth.peerHost,
      enabled: true,
      mtu,
      veth: { peer_if_name: hostVeth.linux },
    }),
  ];
}

export function tapSettings(config: InterfaceConfig): DeepInput<NonNullable<VppInterface['tap']>> {
  return {
    version: 2,
    rx_ring_size: config.tapRxRingSize,
    tx_ring_size: config.tapTxRingSize,
    enable_gso: config.enableGso,
  };
}

/**
 * Settings of the end from which a network stack sends: AF_PACKET does not complete its checksums, and
 * with incomplete ones no TCP connection is established.
 */
export function vethSettings(peer: string): DeepInput<NonNullable<LinuxInterface['veth']>> {
  return {
    peer_if_name: peer,
    rx_checksum_offloading: 'CHKSM_OFFLOAD_DISABLED',
    tx_checksum_offloading: 'CHKSM_OFFLOAD_DISABLED',
  };
}
