/** Items 4 to 7: the link between VPP and the host, and what is routed over it. */
import { type LinuxInterface, linuxInterfaceModel } from '#models/linux/interface.ts';
import { linuxRouteModel } from '#models/linux/route.ts';
import type { DeepInput } from '#models/model.ts';
import { type VppInterface, vppInterfaceModel } from '#models/vpp/interface.ts';
import { vppRouteModel } from '#models/vpp/route.ts';
import type { InterfaceConfig } from '#plugins/contivconf/api.ts';
import { hostInterconnectName, hostSideName } from './interconnect.ts';
import { type Item, item } from './items.ts';
import { hostLinkMac, hostTap, hostVeth } from './names.ts';
import { mainInterfaceName, rxModes } from './nics.ts';
import { hostNetwork, nodeIp, plain, type Site } from './site.ts';
import { STN_HOST_MAC, stnGateway, stnHostAddress } from './stn.ts';

export function hostItems(site: Site): Item[] {
  const { addresses, routing } = site;
  const toHost = site.stn ? nodeIp(site) : plain(addresses.hostInterconnectLinux());
  return [
    ...(site.interfaces.useTap ? tapLink(site) : vethLink(site)),
    ...(toHost === undefined ? [] : site.hostAddresses).map((address) =>
      item(vppRouteModel, {
        vrf_id: routing.mainVrf,
        dst_network: hostNetwork(address),
        next_hop_addr: toHost!,
        outgoing_interface: hostInterconnectName(site),
      }),
    ),
    ...hostRouteToVpp(site, addresses.podSubnetAllNodes()),
    ...(routing.routeServiceCidrToVpp ? hostRouteToVpp(site, addresses.serviceSubnet()) : []),
  ];
}

/** A route of the host that leads to VPP; none as long as nobody on the other side is known. */
export function hostRouteToVpp(site: Site, destination: string): Item[] {
  const gateway = site.stn ? stnGateway(site) : plain(site.addresses.hostInterconnectVpp());
  if (gateway === undefined) return [];
  return [
    item(linuxRouteModel, {
      outgoing_interface: hostSideName(site),
      scope: 'GLOBAL',
      dst_network: destination,
      gw_addr: gateway,
    }),
  ];
}

function vppSide(site: Site): DeepInput<VppInterface> {
  return {
    name: hostInterconnectName(site),
    enabled: true,
    vrf: site.routing.mainVrf,
    mtu: site.interfaces.mtu,
    phys_address: hostLinkMac(site.nodeId),
    // of a NIC that was taken over, host and VPP share the address
    ...(site.stn
      ? { unnumbered: { interface_with_ip: mainInterfaceName(site) } }
      : { ip_addresses: [site.addresses.hostInterconnectVpp()] }),
    rx_modes: rxModes(site.interfaces),
  };
}

function hostSide(site: Site): DeepInput<LinuxInterface> {
  const own = site.stn ? stnHostAddress(site) : site.addresses.hostInterconnectLinux();
  return {
    name: hostSideName(site),
    enabled: true,
    mtu: site.interfaces.mtu,
    ...(site.stn && { phys_address: STN_HOST_MAC }),
    ip_addresses: own === undefined ? [] : [own],
  };
}

function tapLink(site: Site): Item[] {
  return [
    item(vppInterfaceModel, {
      ...vppSide(site),
      type: 'TAP',
      // what VPP only passes on to the host it cannot cut up
      tap: { ...tapSettings(site.interfaces), ...(site.stn && { enable_gso: false }) },
    }),
    item(linuxInterfaceModel, {
      ...hostSide(site),
      type: 'TAP_TO_VPP',
      host_if_name: hostTap.linuxHost,
      tap: { vpp_tap_if_name: hostTap.vpp },
    }),
  ];
}

function vethLink(site: Site): Item[] {
  const { mtu } = site.interfaces;
  return [
    item(vppInterfaceModel, {
      ...vppSide(site),
      type: 'AF_PACKET',
      afpacket: { host_if_name: hostVeth.peerHost },
    }),
    item(linuxInterfaceModel, {
      ...hostSide(site),
      type: 'VETH',
      host_if_name: hostVeth.linuxHost,
      veth: vethSettings(site.interfaces, hostVeth.peer),
    }),
    item(linuxInterfaceModel, {
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

/** The end from which a stack sends: nobody behind AF_PACKET would complete its checksums. */
export function vethSettings(
  config: InterfaceConfig,
  peer: string,
): DeepInput<NonNullable<LinuxInterface['veth']>> {
  const offload = config.tcpChecksumOffloadDisabled
    ? 'CHKSM_OFFLOAD_DISABLED'
    : 'CHKSM_OFFLOAD_DEFAULT';
  return {
    peer_if_name: peer,
    rx_checksum_offloading: offload,
    tx_checksum_offloading: offload,
  };
}
