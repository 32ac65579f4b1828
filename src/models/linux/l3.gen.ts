// Made from linux/l3.proto by `npm run gen`; do not edit.
import { type MessageType, type ProtoFile, messageType } from '../message.ts';

export const file: ProtoFile = {
  name: 'linux/l3.proto',
  imports: [],
  nested: { "ligato": { "nested": { "linux": { "nested": { "l3": { "nested": { "Route": { "fields": { "outgoing_interface": { "type": "string", "id": 1 }, "scope": { "type": "Scope", "id": 2 }, "dst_network": { "type": "string", "id": 3 }, "gw_addr": { "type": "string", "id": 4 }, "metric": { "type": "uint32", "id": 5 } }, "nested": { "Scope": { "values": { "UNDEFINED": 0, "GLOBAL": 1, "SITE": 2, "LINK": 3, "HOST": 4 } } } }, "ARPEntry": { "fields": { "interface": { "type": "string", "id": 1 }, "ip_address": { "type": "string", "id": 2 }, "hw_address": { "type": "string", "id": 3 } } } } } } } } } },
};

export interface Route {
  /** Logical name of a Linux interface. */
  readonly outgoing_interface: string;
  readonly scope: RouteScope;
  readonly dst_network: string;
  readonly gw_addr: string;
  readonly metric: number;
}
export const Route: MessageType<Route> = messageType(file, 'ligato.linux.l3.Route');

export type RouteScope =
  | 'UNDEFINED'
  | 'GLOBAL'
  | 'SITE'
  | 'LINK'
  | 'HOST';

export interface ARPEntry {
  /** Logical name of a Linux interface. */
  readonly interface: string;
  readonly ip_address: string;
  readonly hw_address: string;
}
export const ARPEntry: MessageType<ARPEntry> = messageType(file, 'ligato.linux.l3.ARPEntry');
