// Made from vpp/l2.proto by `npm run gen`; do not edit.
import { type MessageType, type ProtoFile, messageType } from '../message.ts';

export const file: ProtoFile = {
  name: 'vpp/l2.proto',
  imports: [],
  nested: { "ligato": { "nested": { "vpp": { "nested": { "l2": { "nested": { "BridgeDomain": { "fields": { "name": { "type": "string", "id": 1 }, "flood": { "type": "bool", "id": 2 }, "unknown_unicast_flood": { "type": "bool", "id": 3 }, "forward": { "type": "bool", "id": 4 }, "learn": { "type": "bool", "id": 5 }, "arp_termination": { "type": "bool", "id": 6 }, "mac_age": { "type": "uint32", "id": 7 }, "interfaces": { "rule": "repeated", "type": "Interface", "id": 100 }, "arp_termination_table": { "rule": "repeated", "type": "ArpTerminationEntry", "id": 102 } }, "nested": { "Interface": { "fields": { "name": { "type": "string", "id": 1 }, "bridged_virtual_interface": { "type": "bool", "id": 2 }, "split_horizon_group": { "type": "uint32", "id": 3 } } }, "ArpTerminationEntry": { "fields": { "ip_address": { "type": "string", "id": 1 }, "phys_address": { "type": "string", "id": 2 } } } } }, "FIBEntry": { "fields": { "phys_address": { "type": "string", "id": 1 }, "bridge_domain": { "type": "string", "id": 2 }, "action": { "type": "Action", "id": 3 }, "outgoing_interface": { "type": "string", "id": 4 }, "static_config": { "type": "bool", "id": 5 }, "bridged_virtual_interface": { "type": "bool", "id": 6 } }, "nested": { "Action": { "values": { "FORWARD": 0, "DROP": 1 } } } }, "XConnectPair": { "fields": { "receive_interface": { "type": "string", "id": 1 }, "transmit_interface": { "type": "string", "id": 2 } } } } } } } } } },
};

export interface BridgeDomain {
  readonly name: string;
  readonly flood: boolean;
  readonly unknown_unicast_flood: boolean;
  readonly forward: boolean;
  readonly learn: boolean;
  readonly arp_termination: boolean;
  /** Minutes; 0 switches aging off. */
  readonly mac_age: number;
  readonly interfaces: readonly BridgeDomainInterface[];
  readonly arp_termination_table: readonly BridgeDomainArpTerminationEntry[];
}
export const BridgeDomain: MessageType<BridgeDomain> = messageType(file, 'ligato.vpp.l2.BridgeDomain');

export interface BridgeDomainInterface {
  readonly name: string;
  readonly bridged_virtual_interface: boolean;
  readonly split_horizon_group: number;
}
export const BridgeDomainInterface: MessageType<BridgeDomainInterface> = messageType(file, 'ligato.vpp.l2.BridgeDomain.Interface');

export interface BridgeDomainArpTerminationEntry {
  readonly ip_address: string;
  readonly phys_address: string;
}
export const BridgeDomainArpTerminationEntry: MessageType<BridgeDomainArpTerminationEntry> = messageType(file, 'ligato.vpp.l2.BridgeDomain.ArpTerminationEntry');

export interface FIBEntry {
  readonly phys_address: string;
  readonly bridge_domain: string;
  readonly action: FIBEntryAction;
  readonly outgoing_interface: string;
  readonly static_config: boolean;
  readonly bridged_virtual_interface: boolean;
}
export const FIBEntry: MessageType<FIBEntry> = messageType(file, 'ligato.vpp.l2.FIBEntry');

export type FIBEntryAction =
  | 'FORWARD'
  | 'DROP';

export interface XConnectPair {
  readonly receive_interface: string;
  readonly transmit_interface: string;
}
export const XConnectPair: MessageType<XConnectPair> = messageType(file, 'ligato.vpp.l2.XConnectPair');
