/** Items 4 to 7: the link between VPP and the host, and what is routed over it. */
import { type LinuxInterface, linuxInterfaceModel } from '#models/linux/interface.ts';
import { linuxRouteModel } from '#models/linux/route.ts';
import type { DeepInput } from '#models/model.ts';
import { type VppInterface, vppInterfaceModel } from '#models/vpp/interface.ts';
import { vppRouteModel } from '#models/vpp/route.ts';
import type { InterfaceConfig } from '#plugins/contivconf/api.ts';
import { type Item, item } from './items.ts';
import { hostLinkMac, hostTap, hostVeth } from './names.ts';
import { rxModes } from './nics.ts';
import { hostNetwork, plain, type Site } from './site.ts';

export function hostItems(site: Site): Item[] {
  const { addresses, routing } = site;
  const linux = (site.interfaces.useTap ? hostTap : hostVeth).linux;
  const viaVpp = (destination: string): Item =>
    item(linuxRouteModel, {
      outgoing_interface: linux,
      scope: 'GLOBAL',
      dst_network: destination,
      gw_addr: plain(addresses.hostInterconnectVpp()),
    });
  return [
    ...(site.interfaces.useTap ? tapLink(site) : vethLink(site)),
    ...site.hostAddresses.map((address) =>
      item(vppRouteModel, {
        vrf_id: routing.mainVrf,
        dst_network: hostNetwork(address),
        next_hop_addr: plain(addresses.hostInterconnectLinux()),
        outgoing_interface: hostInterconnectName(site),
      }),
    ),
    viaVpp(addresses.podSubnetAllNodes()),
    ...(routing.routeServiceCidrToVpp ? [viaVpp(addresses.serviceSubnet())] : []),
  ];
}

/** Logical name of the side of VPP. */
export function hostInterconnectName(site: Pick<Site, 'interfaces'>): string {
  return (site.interfaces.useTap ? hostTap : hostVeth).vpp;
}

function vppSide(site: Site): DeepInput<VppInterface> {
  return {
    name: hostInterconnectName(site),
    enabled: true,
    vrf: site.routing.mainVrf,
    mtu: site.interfaces.mtu,
    phys_address: hostLinkMac(site.nodeId),
    ip_addresses: [site.addresses.hostInterconnectVpp()],
    rx_modes: rxModes(site.interfaces),
  };
}

function tapLink(site: Site): Item[] {
  return [
    item(vppInterfaceModel, { ...vppSide(site), type: 'TAP', tap: tapSettings(site.interfaces) }),
    item(linuxInterfaceModel, {
      name: hostTap.linux,
      type: 'TAP_TO_VPP',
      host_if_name: hostTap.linuxHost,
      enabled: true,
      mtu: site.interfaces.mtu,
      ip_addresses: [site.addresses.hostInterconnectLinux()],
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
      name: hostVeth.linux,
      type: 'VETH',
      host_if_name: hostVeth.linuxHost,
      enabled: true,
      mtu,
      ip_addresses: [site.addresses.hostInterconnectLinux()],
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
