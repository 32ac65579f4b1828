/** The values that ipv4net configures on a node. */
import type { MessageModel } from '#models/define.ts';
import { linuxArpModel } from '#models/linux/arp.ts';
import { linuxInterfaceModel } from '#models/linux/interface.ts';
import { linuxRouteModel } from '#models/linux/route.ts';
import type { DeepInput } from '#models/model.ts';
import { vppArpModel } from '#models/vpp/arp.ts';
import { bridgeDomainModel } from '#models/vpp/bridge-domain.ts';
import { fibEntryModel } from '#models/vpp/fib-entry.ts';
import { vppInterfaceModel } from '#models/vpp/interface.ts';
import { ipScanNeighborModel } from '#models/vpp/ip-scan-neighbor.ts';
import { vppRouteModel } from '#models/vpp/route.ts';
import { vrfTableModel } from '#models/vpp/vrf-table.ts';

export type Values = Map<string, object>;

function add<T extends object>(values: Values, model: MessageModel<T>, input: DeepInput<T>): void {
  const value = model.canonical(input);
  values.set(model.key(value), value);
}

function mac(pod: number, end: number): string {
  return `02:fe:00:00:0${end}:0${pod}`;
}

export function base(): Values {
  const values: Values = new Map();
  add(values, vrfTableModel, { id: 0, label: 'mainVRF-IPv4' });
  add(values, vrfTableModel, { id: 1, label: 'podVRF-IPv4' });
  add(values, ipScanNeighborModel, { mode: 'IPV4', scan_interval: 1, stale_threshold: 4 });
  add(values, vppInterfaceModel, {
    name: 'loopbackNIC',
    type: 'SOFTWARE_LOOPBACK',
    enabled: true,
    ip_addresses: ['192.168.16.1/24'],
  });
  add(values, vppInterfaceModel, {
    name: 'podGwLoop',
    type: 'SOFTWARE_LOOPBACK',
    enabled: true,
    vrf: 1,
    ip_addresses: ['10.1.1.1/24'],
  });
  add(values, vppInterfaceModel, {
    name: 'vxlanBVI',
    type: 'SOFTWARE_LOOPBACK',
    enabled: true,
    vrf: 1,
    phys_address: '12:2b:00:00:00:01',
    ip_addresses: ['192.168.30.1/24'],
  });
  add(values, vppInterfaceModel, {
    name: 'vxlan-default-2',
    type: 'VXLAN_TUNNEL',
    enabled: true,
    vxlan: { src_address: '192.168.16.1', dst_address: '192.168.16.2', vni: 10 },
  });
  add(values, bridgeDomainModel, {
    name: 'vxlanBD',
    forward: true,
    interfaces: [
      { name: 'vxlanBVI', bridged_virtual_interface: true, split_horizon_group: 1 },
      { name: 'vxlan-default-2', split_horizon_group: 1 },
    ],
  });
  add(values, fibEntryModel, {
    bridge_domain: 'vxlanBD',
    phys_address: '12:2b:00:00:00:02',
    outgoing_interface: 'vxlan-default-2',
    static_config: true,
  });
  add(values, vppArpModel, {
    interface: 'vxlanBVI',
    ip_address: '192.168.30.2',
    phys_address: '12:2b:00:00:00:02',
    static: true,
  });
  add(values, vppRouteModel, {
    vrf_id: 1,
    dst_network: '10.1.2.0/24',
    next_hop_addr: '192.168.30.2',
    outgoing_interface: 'vxlanBVI',
  });
  add(values, vppRouteModel, {
    type: 'INTER_VRF',
    dst_network: '10.1.0.0/16',
    next_hop_addr: '0.0.0.0',
    via_vrf_id: 1,
  });
  add(values, vppRouteModel, {
    type: 'INTER_VRF',
    vrf_id: 1,
    dst_network: '0.0.0.0/0',
    next_hop_addr: '0.0.0.0',
  });
  add(values, vppRouteModel, { type: 'DROP', vrf_id: 1, dst_network: '10.1.0.0/16' });
  return values;
}

/** Routes of a pod: all traffic goes through an address that VPP answers for. */
function addGateway(values: Values, inside: string, hw_address: string): void {
  const ip = '10.1.1.1';
  add(values, linuxArpModel, { interface: inside, ip_address: ip, hw_address });
  add(values, linuxRouteModel, {
    outgoing_interface: inside,
    scope: 'LINK',
    dst_network: `${ip}/32`,
  });
  add(values, linuxRouteModel, {
    outgoing_interface: inside,
    scope: 'GLOBAL',
    dst_network: '0.0.0.0/0',
    gw_addr: ip,
  });
}

/** Wired by a veth pair and AF_PACKET. @param namespace path */
export function vethPod(number: number, namespace: string): Values {
  const values: Values = new Map();
  const [inside, outside] = [`veth1-${number}`, `veth2-${number}`];
  const ip = `10.1.1.${number + 1}`;
  const iface = `afpacketveth2-${number}`;
  add(values, linuxInterfaceModel, {
    name: inside,
    type: 'VETH',
    namespace: { type: 'FD', reference: namespace },
    host_if_name: 'eth0',
    enabled: true,
    phys_address: mac(number, 1),
    mtu: 1450,
    ip_addresses: [`${ip}/32`],
    veth: { peer_if_name: outside, tx_checksum_offloading: 'CHKSM_OFFLOAD_DISABLED' },
  });
  add(values, linuxInterfaceModel, {
    name: outside,
    type: 'VETH',
    enabled: true,
    mtu: 1450,
    veth: { peer_if_name: inside },
  });
  add(values, linuxInterfaceModel, {
    name: `linux-loop-${number}`,
    type: 'LOOPBACK',
    namespace: { type: 'FD', reference: namespace },
    enabled: true,
    ip_addresses: ['127.0.0.1/8'],
  });
  addGateway(values, inside, mac(number, 2));
  add(values, vppInterfaceModel, {
    name: iface,
    type: 'AF_PACKET',
    enabled: true,
    vrf: 1,
    mtu: 1450,
    phys_address: mac(number, 2),
    unnumbered: { interface_with_ip: 'podGwLoop' },
    afpacket: { host_if_name: outside },
  });
  add(values, vppArpModel, {
    interface: iface,
    ip_address: ip,
    phys_address: mac(number, 1),
    static: true,
  });
  add(values, vppRouteModel, {
    vrf_id: 1,
    dst_network: `${ip}/32`,
    next_hop_addr: ip,
    outgoing_interface: iface,
  });
  return values;
}

/** Wired by a TAP. @param namespace path */
export function tapPod(number: number, namespace: string): Values {
  const values: Values = new Map();
  const [inside, outside] = [`linux-tap-${number}`, `vpp-tap-${number}`];
  const ip = `10.1.1.${number + 1}`;
  add(values, linuxInterfaceModel, {
    name: inside,
    type: 'TAP_TO_VPP',
    namespace: { type: 'FD', reference: namespace },
    host_if_name: 'eth0',
    enabled: true,
    phys_address: mac(number, 1),
    mtu: 1450,
    ip_addresses: [`${ip}/32`],
    tap: { vpp_tap_if_name: outside },
  });
  addGateway(values, inside, mac(number, 2));
  add(values, vppInterfaceModel, {
    name: outside,
    type: 'TAP',
    enabled: true,
    vrf: 1,
    mtu: 1450,
    phys_address: mac(number, 2),
    unnumbered: { interface_with_ip: 'podGwLoop' },
    tap: { version: 2, enable_gso: true },
    rx_modes: [{ default_mode: true, mode: 'DEFAULT' }],
  });
  add(values, vppArpModel, {
    interface: outside,
    ip_address: ip,
    phys_address: mac(number, 1),
    static: true,
  });
  add(values, vppRouteModel, {
    vrf_id: 1,
    dst_network: `${ip}/32`,
    next_hop_addr: ip,
    outgoing_interface: outside,
  });
  return values;
}
