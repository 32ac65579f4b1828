// Made from vpp/punt.proto by `npm run gen`; do not edit.
import { type MessageType, type ProtoFile, messageType } from '../message.ts';

export const file: ProtoFile = {
  name: 'vpp/punt.proto',
  imports: [],
  nested: { "ligato": { "nested": { "vpp": { "nested": { "punt": { "nested": { "L3Protocol": { "values": { "UNDEFINED_L3": 0, "IPV4": 4, "IPV6": 6, "ALL": 10 } }, "L4Protocol": { "values": { "UNDEFINED_L4": 0, "TCP": 6, "UDP": 17 } }, "IPRedirect": { "fields": { "l3_protocol": { "type": "L3Protocol", "id": 1 }, "rx_interface": { "type": "string", "id": 2 }, "tx_interface": { "type": "string", "id": 3 }, "next_hop": { "type": "string", "id": 4 } } }, "ToHost": { "fields": { "l3_protocol": { "type": "L3Protocol", "id": 2 }, "l4_protocol": { "type": "L4Protocol", "id": 3 }, "port": { "type": "uint32", "id": 4 }, "socket_path": { "type": "string", "id": 5 } } } } } } } } } },
};

export type L3Protocol =
  | 'UNDEFINED_L3'
  | 'IPV4'
  | 'IPV6'
  | 'ALL';

export type L4Protocol =
  | 'UNDEFINED_L4'
  | 'TCP'
  | 'UDP';

export interface IPRedirect {
  readonly l3_protocol: L3Protocol;
  /** Empty: any interface. */
  readonly rx_interface: string;
  readonly tx_interface: string;
  readonly next_hop: string;
}
export const IPRedirect: MessageType<IPRedirect> = messageType(file, 'ligato.vpp.punt.IPRedirect');

export interface ToHost {
  readonly l3_protocol: L3Protocol;
  readonly l4_protocol: L4Protocol;
  readonly port: number;
  readonly socket_path: string;
}
export const ToHost: MessageType<ToHost> = messageType(file, 'ligato.vpp.punt.ToHost');
