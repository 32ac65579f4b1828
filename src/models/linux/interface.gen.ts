// Made from linux/interface.proto by `npm run gen`; do not edit.
import { type MessageType, type ProtoFile, messageType } from '../message.ts';
import { file as linuxNamespaceFile, type NetNamespace } from './namespace.gen.ts';

export const file: ProtoFile = {
  name: 'linux/interface.proto',
  imports: [linuxNamespaceFile],
  nested: { "ligato": { "nested": { "linux": { "nested": { "interfaces": { "nested": { "Interface": { "oneofs": { "link": { "oneof": [ "veth", "tap", "vrf_dev" ] } }, "fields": { "name": { "type": "string", "id": 1 }, "type": { "type": "Type", "id": 2 }, "namespace": { "type": "ligato.linux.namespace.NetNamespace", "id": 3 }, "host_if_name": { "type": "string", "id": 4 }, "enabled": { "type": "bool", "id": 5 }, "ip_addresses": { "rule": "repeated", "type": "string", "id": 6 }, "phys_address": { "type": "string", "id": 7 }, "mtu": { "type": "uint32", "id": 8 }, "link_only": { "type": "bool", "id": 9 }, "vrf_master_interface": { "type": "string", "id": 10 }, "veth": { "type": "VethLink", "id": 20 }, "tap": { "type": "TapLink", "id": 21 }, "vrf_dev": { "type": "VrfDevLink", "id": 22 } }, "nested": { "Type": { "values": { "UNDEFINED": 0, "VETH": 1, "TAP_TO_VPP": 2, "LOOPBACK": 3, "EXISTING": 4, "VRF_DEVICE": 5, "DUMMY": 6 } } } }, "VethLink": { "fields": { "peer_if_name": { "type": "string", "id": 1 }, "rx_checksum_offloading": { "type": "ChecksumOffloading", "id": 2 }, "tx_checksum_offloading": { "type": "ChecksumOffloading", "id": 3 } }, "nested": { "ChecksumOffloading": { "values": { "CHKSM_OFFLOAD_DEFAULT": 0, "CHKSM_OFFLOAD_ENABLED": 1, "CHKSM_OFFLOAD_DISABLED": 2 } } } }, "TapLink": { "fields": { "vpp_tap_if_name": { "type": "string", "id": 1 } } }, "VrfDevLink": { "fields": { "routing_table": { "type": "uint32", "id": 1 } } } } } } } } } },
};

export interface Interface {
  /** Logical name, unique among the Linux interfaces. */
  readonly name: string;
  readonly type: InterfaceType;
  readonly namespace?: NetNamespace;
  /** Name in the kernel, up to 15 characters; empty: the logical name. */
  readonly host_if_name: string;
  readonly enabled: boolean;
  readonly ip_addresses: readonly string[];
  /** MAC; empty: chosen by the kernel. */
  readonly phys_address: string;
  /** 0: chosen by the kernel. */
  readonly mtu: number;
  /** Addresses and MAC are not managed. */
  readonly link_only: boolean;
  readonly vrf_master_interface: string;
  readonly veth?: VethLink;
  readonly tap?: TapLink;
  readonly vrf_dev?: VrfDevLink;
}
export const Interface: MessageType<Interface> = messageType(file, 'ligato.linux.interfaces.Interface');

export type InterfaceType =
  | 'UNDEFINED'
  | 'VETH'
  | 'TAP_TO_VPP'
  | 'LOOPBACK'
  | 'EXISTING'
  | 'VRF_DEVICE'
  | 'DUMMY';

export interface VethLink {
  /** Logical name of the other end. */
  readonly peer_if_name: string;
  readonly rx_checksum_offloading: VethLinkChecksumOffloading;
  readonly tx_checksum_offloading: VethLinkChecksumOffloading;
}
export const VethLink: MessageType<VethLink> = messageType(file, 'ligato.linux.interfaces.VethLink');

export type VethLinkChecksumOffloading =
  | 'CHKSM_OFFLOAD_DEFAULT'
  | 'CHKSM_OFFLOAD_ENABLED'
  | 'CHKSM_OFFLOAD_DISABLED';

export interface TapLink {
  /** Logical name of the TAP on the side of VPP. */
  readonly vpp_tap_if_name: string;
}
export const TapLink: MessageType<TapLink> = messageType(file, 'ligato.linux.interfaces.TapLink');

export interface VrfDevLink {
  readonly routing_table: number;
}
export const VrfDevLink: MessageType<VrfDevLink> = messageType(file, 'ligato.linux.interfaces.VrfDevLink');
