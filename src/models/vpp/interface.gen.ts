// Made from vpp/interface.proto by `npm run gen`; do not edit.
import { type MessageType, type ProtoFile, messageType } from '../message.ts';
import type { Secret } from '../secret.ts';

export const file: ProtoFile = {
  name: 'vpp/interface.proto',
  imports: [],
  nested: { "ligato": { "nested": { "vpp": { "nested": { "interfaces": { "nested": { "Interface": { "oneofs": { "link": { "oneof": [ "sub", "memif", "afpacket", "tap", "vxlan", "vmx_net3", "bond", "wireguard" ] } }, "fields": { "name": { "type": "string", "id": 1 }, "type": { "type": "Type", "id": 2 }, "enabled": { "type": "bool", "id": 3 }, "phys_address": { "type": "string", "id": 4 }, "ip_addresses": { "rule": "repeated", "type": "string", "id": 5 }, "vrf": { "type": "uint32", "id": 6 }, "set_dhcp_client": { "type": "bool", "id": 7 }, "mtu": { "type": "uint32", "id": 8 }, "unnumbered": { "type": "Unnumbered", "id": 9 }, "rx_modes": { "rule": "repeated", "type": "RxMode", "id": 12 }, "rx_placements": { "rule": "repeated", "type": "RxPlacement", "id": 13 }, "ip6_nd": { "type": "IP6ND", "id": 14 }, "sub": { "type": "SubInterface", "id": 100 }, "memif": { "type": "MemifLink", "id": 101 }, "afpacket": { "type": "AfpacketLink", "id": 102 }, "tap": { "type": "TapLink", "id": 103 }, "vxlan": { "type": "VxlanLink", "id": 104 }, "vmx_net3": { "type": "VmxNet3Link", "id": 106 }, "bond": { "type": "BondLink", "id": 107 }, "wireguard": { "type": "WireguardLink", "id": 111 } }, "nested": { "Type": { "values": { "UNDEFINED_TYPE": 0, "SUB_INTERFACE": 1, "SOFTWARE_LOOPBACK": 2, "DPDK": 3, "MEMIF": 4, "TAP": 5, "AF_PACKET": 6, "VXLAN_TUNNEL": 7, "IPSEC_TUNNEL": 8, "VMXNET3_INTERFACE": 9, "BOND_INTERFACE": 10, "GRE_TUNNEL": 11, "GTPU_TUNNEL": 12, "IPIP_TUNNEL": 13, "WIREGUARD_TUNNEL": 14, "RDMA": 15 } }, "Unnumbered": { "fields": { "interface_with_ip": { "type": "string", "id": 1 } } }, "RxMode": { "fields": { "queue": { "type": "uint32", "id": 1 }, "mode": { "type": "Type", "id": 2 }, "default_mode": { "type": "bool", "id": 3 } }, "nested": { "Type": { "values": { "UNKNOWN": 0, "POLLING": 1, "INTERRUPT": 2, "ADAPTIVE": 3, "DEFAULT": 4 } } } }, "RxPlacement": { "fields": { "queue": { "type": "uint32", "id": 1 }, "worker": { "type": "uint32", "id": 2 }, "main_thread": { "type": "bool", "id": 3 } } }, "IP6ND": { "fields": { "address_autoconfig": { "type": "bool", "id": 1 }, "install_default_routes": { "type": "bool", "id": 2 } } } } }, "SubInterface": { "fields": { "parent_name": { "type": "string", "id": 1 }, "sub_id": { "type": "uint32", "id": 2 }, "tag_rw_option": { "type": "TagRewriteOptions", "id": 3 }, "push_dot1q": { "type": "bool", "id": 4 }, "tag1": { "type": "uint32", "id": 5 }, "tag2": { "type": "uint32", "id": 6 } }, "nested": { "TagRewriteOptions": { "values": { "DISABLED": 0, "PUSH1": 1, "PUSH2": 2, "POP1": 3, "POP2": 4, "TRANSLATE11": 5, "TRANSLATE12": 6, "TRANSLATE21": 7, "TRANSLATE22": 8 } } } }, "MemifLink": { "fields": { "mode": { "type": "MemifMode", "id": 1 }, "master": { "type": "bool", "id": 2 }, "id": { "type": "uint32", "id": 3 }, "socket_filename": { "type": "string", "id": 4 }, "secret": { "type": "string", "id": 5, "options": { "debug_redact": true } }, "ring_size": { "type": "uint32", "id": 6 }, "buffer_size": { "type": "uint32", "id": 7 }, "rx_queues": { "type": "uint32", "id": 8 }, "tx_queues": { "type": "uint32", "id": 9 } }, "nested": { "MemifMode": { "values": { "ETHERNET": 0, "IP": 1, "PUNT_INJECT": 2 } } } }, "AfpacketLink": { "fields": { "host_if_name": { "type": "string", "id": 1 }, "linux_interface": { "type": "string", "id": 2 } } }, "TapLink": { "fields": { "version": { "type": "uint32", "id": 1 }, "host_if_name": { "type": "string", "id": 2 }, "to_microservice": { "type": "string", "id": 3 }, "rx_ring_size": { "type": "uint32", "id": 4 }, "tx_ring_size": { "type": "uint32", "id": 5 }, "enable_gso": { "type": "bool", "id": 6 }, "enable_tunnel": { "type": "bool", "id": 7 }, "host_namespace": { "type": "string", "id": 8 } } }, "VxlanLink": { "fields": { "src_address": { "type": "string", "id": 1 }, "dst_address": { "type": "string", "id": 2 }, "vni": { "type": "uint32", "id": 3 }, "multicast": { "type": "string", "id": 4 }, "gpe": { "type": "Gpe", "id": 5 } }, "nested": { "Gpe": { "fields": { "decap_vrf_id": { "type": "uint32", "id": 1 }, "protocol": { "type": "Protocol", "id": 2 } }, "nested": { "Protocol": { "values": { "UNKNOWN": 0, "IP4": 1, "IP6": 2, "ETHERNET": 3, "NSH": 4 } } } } } }, "WireguardLink": { "fields": { "port": { "type": "uint32", "id": 3 }, "src_addr": { "type": "string", "id": 4 }, "public_key": { "type": "string", "id": 5 } } }, "VmxNet3Link": { "fields": { "enable_elog": { "type": "bool", "id": 2 }, "rxq_size": { "type": "uint32", "id": 3 }, "txq_size": { "type": "uint32", "id": 4 } } }, "BondLink": { "fields": { "id": { "type": "uint32", "id": 1 }, "mode": { "type": "Mode", "id": 3 }, "lb": { "type": "LoadBalance", "id": 4 }, "bonded_interfaces": { "rule": "repeated", "type": "BondedInterface", "id": 12 } }, "nested": { "Mode": { "values": { "UNKNOWN": 0, "ROUND_ROBIN": 1, "ACTIVE_BACKUP": 2, "XOR": 3, "BROADCAST": 4, "LACP": 5 } }, "LoadBalance": { "values": { "L2": 0, "L34": 1, "L23": 2, "RR": 3, "BC": 4, "AB": 5 } }, "BondedInterface": { "fields": { "name": { "type": "string", "id": 1 }, "is_passive": { "type": "bool", "id": 2 }, "is_long_timeout": { "type": "bool", "id": 3 } } } } } } } } } } } },
};

export interface Interface {
  /** Logical name, unique among the VPP interfaces, up to 63 characters. */
  readonly name: string;
  readonly type: InterfaceType;
  readonly enabled: boolean;
  /** MAC; empty: chosen by VPP. */
  readonly phys_address: string;
  readonly ip_addresses: readonly string[];
  /** For a VXLAN tunnel the table of its outer addresses. */
  readonly vrf: number;
  readonly set_dhcp_client: boolean;
  /** 0: chosen by VPP. */
  readonly mtu: number;
  readonly unnumbered?: InterfaceUnnumbered;
  readonly rx_modes: readonly InterfaceRxMode[];
  readonly rx_placements: readonly InterfaceRxPlacement[];
  readonly ip6_nd?: InterfaceIP6ND;
  readonly sub?: SubInterface;
  readonly memif?: MemifLink;
  readonly afpacket?: AfpacketLink;
  readonly tap?: TapLink;
  readonly vxlan?: VxlanLink;
  readonly vmx_net3?: VmxNet3Link;
  readonly bond?: BondLink;
  readonly wireguard?: WireguardLink;
}
export const Interface: MessageType<Interface> = messageType(file, 'ligato.vpp.interfaces.Interface');

export type InterfaceType =
  | 'UNDEFINED_TYPE'
  | 'SUB_INTERFACE'
  | 'SOFTWARE_LOOPBACK'
  | 'DPDK'
  | 'MEMIF'
  | 'TAP'
  | 'AF_PACKET'
  | 'VXLAN_TUNNEL'
  | 'IPSEC_TUNNEL'
  | 'VMXNET3_INTERFACE'
  | 'BOND_INTERFACE'
  | 'GRE_TUNNEL'
  | 'GTPU_TUNNEL'
  | 'IPIP_TUNNEL'
  | 'WIREGUARD_TUNNEL'
  | 'RDMA';

export interface InterfaceUnnumbered {
  /** Logical name of the interface whose address is borrowed. */
  readonly interface_with_ip: string;
}
export const InterfaceUnnumbered: MessageType<InterfaceUnnumbered> = messageType(file, 'ligato.vpp.interfaces.Interface.Unnumbered');

export interface InterfaceRxMode {
  readonly queue: number;
  readonly mode: InterfaceRxModeType;
  /** Default for all other queues; `queue` is ignored then. */
  readonly default_mode: boolean;
}
export const InterfaceRxMode: MessageType<InterfaceRxMode> = messageType(file, 'ligato.vpp.interfaces.Interface.RxMode');

export type InterfaceRxModeType =
  | 'UNKNOWN'
  | 'POLLING'
  | 'INTERRUPT'
  | 'ADAPTIVE'
  | 'DEFAULT';

export interface InterfaceRxPlacement {
  readonly queue: number;
  readonly worker: number;
  /** Served by the main thread; `worker` is ignored then. */
  readonly main_thread: boolean;
}
export const InterfaceRxPlacement: MessageType<InterfaceRxPlacement> = messageType(file, 'ligato.vpp.interfaces.Interface.RxPlacement');

export interface InterfaceIP6ND {
  readonly address_autoconfig: boolean;
  readonly install_default_routes: boolean;
}
export const InterfaceIP6ND: MessageType<InterfaceIP6ND> = messageType(file, 'ligato.vpp.interfaces.Interface.IP6ND');

export interface SubInterface {
  readonly parent_name: string;
  /** VLAN. */
  readonly sub_id: number;
  readonly tag_rw_option: SubInterfaceTagRewriteOptions;
  readonly push_dot1q: boolean;
  readonly tag1: number;
  readonly tag2: number;
}
export const SubInterface: MessageType<SubInterface> = messageType(file, 'ligato.vpp.interfaces.SubInterface');

export type SubInterfaceTagRewriteOptions =
  | 'DISABLED'
  | 'PUSH1'
  | 'PUSH2'
  | 'POP1'
  | 'POP2'
  | 'TRANSLATE11'
  | 'TRANSLATE12'
  | 'TRANSLATE21'
  | 'TRANSLATE22';

export interface MemifLink {
  readonly mode: MemifLinkMemifMode;
  readonly master: boolean;
  readonly id: number;
  readonly socket_filename: string;
  readonly secret: Secret;
  readonly ring_size: number;
  readonly buffer_size: number;
  readonly rx_queues: number;
  readonly tx_queues: number;
}
export const MemifLink: MessageType<MemifLink> = messageType(file, 'ligato.vpp.interfaces.MemifLink');

export type MemifLinkMemifMode =
  | 'ETHERNET'
  | 'IP'
  | 'PUNT_INJECT';

export interface AfpacketLink {
  /** Name in the kernel; one of the two is mandatory. */
  readonly host_if_name: string;
  /** Logical name of the Linux interface. */
  readonly linux_interface: string;
}
export const AfpacketLink: MessageType<AfpacketLink> = messageType(file, 'ligato.vpp.interfaces.AfpacketLink');

export interface TapLink {
  /** Only 2 is supported; 0 means 2. */
  readonly version: number;
  /** Name in the kernel; empty: derived from the logical name. */
  readonly host_if_name: string;
  readonly to_microservice: string;
  /** Power of 2; 0 means 256. */
  readonly rx_ring_size: number;
  readonly tx_ring_size: number;
  readonly enable_gso: boolean;
  readonly enable_tunnel: boolean;
  /**
   * Path of the network namespace in which VPP makes the kernel's side, if it can. Where it was made is no
   * difference between two TAPs: its Linux interface moves it. Contiv/VPP has no such field.
   */
  readonly host_namespace: string;
}
export const TapLink: MessageType<TapLink> = messageType(file, 'ligato.vpp.interfaces.TapLink');

export interface VxlanLink {
  readonly src_address: string;
  readonly dst_address: string;
  readonly vni: number;
  /** Logical name of the interface for a multicast destination. */
  readonly multicast: string;
  readonly gpe?: VxlanLinkGpe;
}
export const VxlanLink: MessageType<VxlanLink> = messageType(file, 'ligato.vpp.interfaces.VxlanLink');

export interface VxlanLinkGpe {
  readonly decap_vrf_id: number;
  readonly protocol: VxlanLinkGpeProtocol;
}
export const VxlanLinkGpe: MessageType<VxlanLinkGpe> = messageType(file, 'ligato.vpp.interfaces.VxlanLink.Gpe');

export type VxlanLinkGpeProtocol =
  | 'UNKNOWN'
  | 'IP4'
  | 'IP6'
  | 'ETHERNET'
  | 'NSH';

/** The private key is in no value: the agent's keys have it. */
export interface WireguardLink {
  /** UDP port, for each WireGuard interface another one. */
  readonly port: number;
  readonly src_addr: string;
  /** Base64 of the 32 bytes. Contiv/VPP has the private key instead. */
  readonly public_key: string;
}
export const WireguardLink: MessageType<WireguardLink> = messageType(file, 'ligato.vpp.interfaces.WireguardLink');

export interface VmxNet3Link {
  readonly enable_elog: boolean;
  readonly rxq_size: number;
  readonly txq_size: number;
}
export const VmxNet3Link: MessageType<VmxNet3Link> = messageType(file, 'ligato.vpp.interfaces.VmxNet3Link');

export interface BondLink {
  readonly id: number;
  readonly mode: BondLinkMode;
  readonly lb: BondLinkLoadBalance;
  readonly bonded_interfaces: readonly BondLinkBondedInterface[];
}
export const BondLink: MessageType<BondLink> = messageType(file, 'ligato.vpp.interfaces.BondLink');

export type BondLinkMode =
  | 'UNKNOWN'
  | 'ROUND_ROBIN'
  | 'ACTIVE_BACKUP'
  | 'XOR'
  | 'BROADCAST'
  | 'LACP';

export type BondLinkLoadBalance =
  | 'L2'
  | 'L34'
  | 'L23'
  | 'RR'
  | 'BC'
  | 'AB';

export interface BondLinkBondedInterface {
  readonly name: string;
  readonly is_passive: boolean;
  readonly is_long_timeout: boolean;
}
export const BondLinkBondedInterface: MessageType<BondLinkBondedInterface> = messageType(file, 'ligato.vpp.interfaces.BondLink.BondedInterface');
