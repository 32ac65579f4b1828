/** Item 18: the wiring of one attachment. */
import { linuxArpModel } from '#models/linux/arp.ts';
import { linuxInterfaceModel } from '#models/linux/interface.ts';
import { linuxRouteModel } from '#models/linux/route.ts';
import type { DeepInput } from '#models/model.ts';
import { vppArpModel } from '#models/vpp/arp.ts';
import { type VppInterface, vppInterfaceModel } from '#models/vpp/interface.ts';
import { vppRouteModel } from '#models/vpp/route.ts';
import type { AddPodReply, Attachment } from '#plugins/podmanager/api.ts';
import { hostRouteToVpp, tapSettings, vethSettings } from './host.ts';
import { type Item, item } from './items.ts';
import { POD_GATEWAY_LOOPBACK, type PodLinkNames, podLinkNames, podMacs } from './names.ts';
import { rxModes } from './nics.ts';
import { anyNetwork, hostNetwork, type Site } from './site.ts';

/** @param address of the pod, plain */
export function podItems(site: Site, attachment: Attachment, address: string): Item[] {
  const names = podLinkNames(attachment, site.interfaces.useTap);
  const macs = podMacs(attachment);
  const gateway = site.addresses.podGateway();
  const podNetwork = `${address}/${site.addresses.hostPrefixLength}`;
  return [
    podLoopback(site, attachment, names),
    ...(site.interfaces.useTap ? tapLink : vethLink)(site, attachment, names, podNetwork),
    item(linuxArpModel, { interface: names.linux, ip_address: gateway, hw_address: macs.vpp }),
    item(linuxRouteModel, {
      outgoing_interface: names.linux,
      scope: 'LINK',
      dst_network: hostNetwork(gateway),
    }),
    item(linuxRouteModel, {
      outgoing_interface: names.linux,
      scope: 'GLOBAL',
      dst_network: anyNetwork(site.family),
      gw_addr: gateway,
    }),
    item(vppArpModel, {
      interface: names.vpp,
      ip_address: address,
      phys_address: macs.linux,
      static: true,
    }),
    item(vppRouteModel, {
      vrf_id: site.routing.podVrf,
      dst_network: podNetwork,
      next_hop_addr: address,
      outgoing_interface: names.vpp,
    }),
    // the host's route to all pods does not cover what lies elsewhere
    ...(site.externalIpam ? hostRouteToVpp(site, podNetwork) : []),
  ];
}

/** What the CNI is told. */
export function podReply(site: Site, attachment: Attachment, address: string): AddPodReply {
  const gateway = site.addresses.podGateway();
  const names = podLinkNames(attachment, site.interfaces.useTap);
  return {
    interfaces: [
      {
        name: names.linuxHost,
        mac: podMacs(attachment).linux,
        sandbox: attachment.networkNamespace,
        addresses: [
          {
            family: site.family,
            address: `${address}/${site.addresses.hostPrefixLength}`,
            gateway,
          },
        ],
      },
      // Plugins behind ours in the chain look for the end of a veth that the host has.
      ...(site.interfaces.useTap
        ? []
        : [{ name: names.peerHost, mac: '', sandbox: '', addresses: [] }]),
    ],
    routes: [{ destination: anyNetwork(site.family), gateway }],
  };
}

function namespaceOf(attachment: Attachment) {
  return { type: 'FD', reference: attachment.networkNamespace } as const;
}

function podLoopback(site: Site, attachment: Attachment, names: PodLinkNames): Item {
  return item(linuxInterfaceModel, {
    name: names.loopback,
    type: 'LOOPBACK',
    namespace: namespaceOf(attachment),
    enabled: true,
    ip_addresses: ['127.0.0.1/8', ...(site.ipv6InPods ? ['::1/128'] : [])],
  });
}

/** The pod VRF is reached without an address of one's own on every link. */
function vppSide(site: Site, attachment: Attachment, names: PodLinkNames): DeepInput<VppInterface> {
  return {
    name: names.vpp,
    enabled: true,
    vrf: site.routing.podVrf,
    mtu: site.interfaces.mtu,
    phys_address: podMacs(attachment).vpp,
    unnumbered: { interface_with_ip: POD_GATEWAY_LOOPBACK },
    rx_modes: rxModes(site.interfaces),
  };
}

function linuxSide(site: Site, attachment: Attachment, names: PodLinkNames, podNetwork: string) {
  return {
    name: names.linux,
    namespace: namespaceOf(attachment),
    host_if_name: names.linuxHost,
    enabled: true,
    mtu: site.interfaces.mtu,
    phys_address: podMacs(attachment).linux,
    ip_addresses: [podNetwork],
  };
}

function tapLink(
  site: Site,
  attachment: Attachment,
  names: PodLinkNames,
  podNetwork: string,
): Item[] {
  return [
    item(vppInterfaceModel, {
      ...vppSide(site, attachment, names),
      type: 'TAP',
      tap: tapSettings(site.interfaces),
    }),
    item(linuxInterfaceModel, {
      ...linuxSide(site, attachment, names, podNetwork),
      type: 'TAP_TO_VPP',
      tap: { vpp_tap_if_name: names.vpp },
    }),
  ];
}

function vethLink(
  site: Site,
  attachment: Attachment,
  names: PodLinkNames,
  podNetwork: string,
): Item[] {
  return [
    item(vppInterfaceModel, {
      ...vppSide(site, attachment, names),
      type: 'AF_PACKET',
      afpacket: { host_if_name: names.peerHost },
    }),
    item(linuxInterfaceModel, {
      ...linuxSide(site, attachment, names, podNetwork),
      type: 'VETH',
      veth: vethSettings(site.interfaces, names.peer),
    }),
    item(linuxInterfaceModel, {
      name: names.peer,
      type: 'VETH',
      host_if_name: names.peerHost,
      enabled: true,
      mtu: site.interfaces.mtu,
      veth: { peer_if_name: names.linux },
    }),
  ];
}
