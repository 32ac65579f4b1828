// Made from vpp/l3.proto by `npm run gen`; do not edit.
import { type MessageType, type ProtoFile, messageType } from '../message.ts';

export const file: ProtoFile = {
  name: 'vpp/l3.proto',
  imports: [],
  nested: { "ligato": { "nested": { "vpp": { "nested": { "l3": { "nested": { "Route": { "fields": { "type": { "type": "RouteType", "id": 10 }, "vrf_id": { "type": "uint32", "id": 1 }, "dst_network": { "type": "string", "id": 3 }, "next_hop_addr": { "type": "string", "id": 4 }, "outgoing_interface": { "type": "string", "id": 5 }, "weight": { "type": "uint32", "id": 6 }, "preference": { "type": "uint32", "id": 7 }, "via_vrf_id": { "type": "uint32", "id": 8 } }, "nested": { "RouteType": { "values": { "INTRA_VRF": 0, "INTER_VRF": 1, "DROP": 2, "UNREACHABLE": 16, "SOURCE_VRF": 17 } } } }, "ARPEntry": { "fields": { "interface": { "type": "string", "id": 1 }, "ip_address": { "type": "string", "id": 2 }, "phys_address": { "type": "string", "id": 3 }, "static": { "type": "bool", "id": 4 } } }, "VrfTable": { "fields": { "id": { "type": "uint32", "id": 1 }, "protocol": { "type": "Protocol", "id": 2 }, "label": { "type": "string", "id": 3 }, "flow_hash_settings": { "type": "FlowHashSettings", "id": 4 } }, "nested": { "Protocol": { "values": { "IPV4": 0, "IPV6": 1 } }, "FlowHashSettings": { "fields": { "use_src_ip": { "type": "bool", "id": 1 }, "use_dst_ip": { "type": "bool", "id": 2 }, "use_src_port": { "type": "bool", "id": 3 }, "use_dst_port": { "type": "bool", "id": 4 }, "use_protocol": { "type": "bool", "id": 5 }, "reverse": { "type": "bool", "id": 6 }, "symmetric": { "type": "bool", "id": 7 } } } } }, "ProxyARP": { "fields": { "interfaces": { "rule": "repeated", "type": "Interface", "id": 1 }, "ranges": { "rule": "repeated", "type": "Range", "id": 2 } }, "nested": { "Interface": { "fields": { "name": { "type": "string", "id": 1 } } }, "Range": { "fields": { "first_ip_addr": { "type": "string", "id": 1 }, "last_ip_addr": { "type": "string", "id": 2 }, "vrf_id": { "type": "uint32", "id": 3 } } } } }, "IPScanNeighbor": { "fields": { "mode": { "type": "Mode", "id": 1 }, "scan_interval": { "type": "uint32", "id": 2 }, "max_proc_time": { "type": "uint32", "id": 3 }, "max_update": { "type": "uint32", "id": 4 }, "scan_int_delay": { "type": "uint32", "id": 5 }, "stale_threshold": { "type": "uint32", "id": 6 } }, "nested": { "Mode": { "values": { "DISABLED": 0, "IPV4": 1, "IPV6": 2, "BOTH": 3 } } } } } } } } } } },
};

export interface Route {
  readonly type: RouteRouteType;
  readonly vrf_id: number;
  readonly dst_network: string;
  readonly next_hop_addr: string;
  readonly outgoing_interface: string;
  readonly weight: number;
  readonly preference: number;
  readonly via_vrf_id: number;
}
export const Route: MessageType<Route> = messageType(file, 'ligato.vpp.l3.Route');

export type RouteRouteType =
  | 'INTRA_VRF'
  | 'INTER_VRF'
  | 'DROP'
  | 'UNREACHABLE'
  | 'SOURCE_VRF';

export interface ARPEntry {
  readonly interface: string;
  readonly ip_address: string;
  readonly phys_address: string;
  readonly static: boolean;
}
export const ARPEntry: MessageType<ARPEntry> = messageType(file, 'ligato.vpp.l3.ARPEntry');

export interface VrfTable {
  readonly id: number;
  readonly protocol: VrfTableProtocol;
  /** Up to 63 characters. */
  readonly label: string;
  readonly flow_hash_settings?: VrfTableFlowHashSettings;
}
export const VrfTable: MessageType<VrfTable> = messageType(file, 'ligato.vpp.l3.VrfTable');

export type VrfTableProtocol =
  | 'IPV4'
  | 'IPV6';

export interface VrfTableFlowHashSettings {
  readonly use_src_ip: boolean;
  readonly use_dst_ip: boolean;
  readonly use_src_port: boolean;
  readonly use_dst_port: boolean;
  readonly use_protocol: boolean;
  readonly reverse: boolean;
  readonly symmetric: boolean;
}
export const VrfTableFlowHashSettings: MessageType<VrfTableFlowHashSettings> = messageType(file, 'ligato.vpp.l3.VrfTable.FlowHashSettings');

export interface ProxyARP {
  readonly interfaces: readonly ProxyARPInterface[];
  readonly ranges: readonly ProxyARPRange[];
}
export const ProxyARP: MessageType<ProxyARP> = messageType(file, 'ligato.vpp.l3.ProxyARP');

export interface ProxyARPInterface {
  readonly name: string;
}
export const ProxyARPInterface: MessageType<ProxyARPInterface> = messageType(file, 'ligato.vpp.l3.ProxyARP.Interface');

export interface ProxyARPRange {
  readonly first_ip_addr: string;
  readonly last_ip_addr: string;
  readonly vrf_id: number;
}
export const ProxyARPRange: MessageType<ProxyARPRange> = messageType(file, 'ligato.vpp.l3.ProxyARP.Range');

export interface IPScanNeighbor {
  readonly mode: IPScanNeighborMode;
  /** Minutes. */
  readonly scan_interval: number;
  /** Microseconds. */
  readonly max_proc_time: number;
  readonly max_update: number;
  /** Milliseconds. */
  readonly scan_int_delay: number;
  /** Minutes. */
  readonly stale_threshold: number;
}
export const IPScanNeighbor: MessageType<IPScanNeighbor> = messageType(file, 'ligato.vpp.l3.IPScanNeighbor');

export type IPScanNeighborMode =
  | 'DISABLED'
  | 'IPV4'
  | 'IPV6'
  | 'BOTH';
