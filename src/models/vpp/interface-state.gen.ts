// Made from vpp/interface-state.proto by `npm run gen`; do not edit.
import { type Int64, type MessageType, type ProtoFile, messageType } from '../message.ts';
import { file as vppInterfaceFile, type InterfaceType } from './interface.gen.ts';

export const file: ProtoFile = {
  name: 'vpp/interface-state.proto',
  imports: [vppInterfaceFile],
  nested: { "ligato": { "nested": { "vpp": { "nested": { "interfaces": { "nested": { "InterfaceState": { "fields": { "name": { "type": "string", "id": 1 }, "internal_name": { "type": "string", "id": 2 }, "type": { "type": "ligato.vpp.interfaces.Interface.Type", "id": 3 }, "if_index": { "type": "uint32", "id": 4 }, "admin_status": { "type": "Status", "id": 5 }, "oper_status": { "type": "Status", "id": 6 }, "last_change": { "type": "int64", "id": 7 }, "phys_address": { "type": "string", "id": 8 }, "speed": { "type": "uint64", "id": 9 }, "mtu": { "type": "uint32", "id": 10 }, "duplex": { "type": "Duplex", "id": 11 }, "statistics": { "type": "Statistics", "id": 100 } }, "nested": { "Status": { "values": { "UNKNOWN_STATUS": 0, "UP": 1, "DOWN": 2, "DELETED": 3 } }, "Duplex": { "values": { "UNKNOWN_DUPLEX": 0, "HALF": 1, "FULL": 2 } }, "Statistics": { "fields": { "in_packets": { "type": "uint64", "id": 1 }, "in_bytes": { "type": "uint64", "id": 2 }, "out_packets": { "type": "uint64", "id": 3 }, "out_bytes": { "type": "uint64", "id": 4 }, "drop_packets": { "type": "uint64", "id": 5 }, "punt_packets": { "type": "uint64", "id": 6 }, "ipv4_packets": { "type": "uint64", "id": 7 }, "ipv6_packets": { "type": "uint64", "id": 8 }, "in_nobuf_packets": { "type": "uint64", "id": 9 }, "in_miss_packets": { "type": "uint64", "id": 10 }, "in_error_packets": { "type": "uint64", "id": 11 }, "out_error_packets": { "type": "uint64", "id": 12 } } } } }, "DHCPLease": { "fields": { "interface_name": { "type": "string", "id": 1 }, "host_name": { "type": "string", "id": 2 }, "is_ipv6": { "type": "bool", "id": 3 }, "host_phys_address": { "type": "string", "id": 4 }, "host_ip_address": { "type": "string", "id": 5 }, "router_ip_address": { "type": "string", "id": 6 } } } } } } } } } },
};

/** Interface state that the statistics collector publishes. */
export interface InterfaceState {
  readonly name: string;
  readonly internal_name: string;
  readonly type: InterfaceType;
  readonly if_index: number;
  readonly admin_status: InterfaceStateStatus;
  readonly oper_status: InterfaceStateStatus;
  /** Seconds since 1970. */
  readonly last_change: Int64;
  readonly phys_address: string;
  /** Bits a second. */
  readonly speed: Int64;
  readonly mtu: number;
  readonly duplex: InterfaceStateDuplex;
  readonly statistics?: InterfaceStateStatistics;
}
export const InterfaceState: MessageType<InterfaceState> = messageType(file, 'ligato.vpp.interfaces.InterfaceState');

export type InterfaceStateStatus =
  | 'UNKNOWN_STATUS'
  | 'UP'
  | 'DOWN'
  | 'DELETED';

export type InterfaceStateDuplex =
  | 'UNKNOWN_DUPLEX'
  | 'HALF'
  | 'FULL';

export interface InterfaceStateStatistics {
  readonly in_packets: Int64;
  readonly in_bytes: Int64;
  readonly out_packets: Int64;
  readonly out_bytes: Int64;
  readonly drop_packets: Int64;
  readonly punt_packets: Int64;
  readonly ipv4_packets: Int64;
  readonly ipv6_packets: Int64;
  readonly in_nobuf_packets: Int64;
  readonly in_miss_packets: Int64;
  readonly in_error_packets: Int64;
  readonly out_error_packets: Int64;
}
export const InterfaceStateStatistics: MessageType<InterfaceStateStatistics> = messageType(file, 'ligato.vpp.interfaces.InterfaceState.Statistics');

/** Lease of VPP's DHCP client. */
export interface DHCPLease {
  /** Logical name. */
  readonly interface_name: string;
  readonly host_name: string;
  readonly is_ipv6: boolean;
  readonly host_phys_address: string;
  readonly host_ip_address: string;
  readonly router_ip_address: string;
}
export const DHCPLease: MessageType<DHCPLease> = messageType(file, 'ligato.vpp.interfaces.DHCPLease');
