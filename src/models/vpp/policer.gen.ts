// Made from vpp/policer.proto by `npm run gen`; do not edit.
import { type MessageType, type ProtoFile, messageType } from '../message.ts';

export const file: ProtoFile = {
  name: 'vpp/policer.proto',
  imports: [],
  nested: { "ligato": { "nested": { "vpp": { "nested": { "policer": { "nested": { "Direction": { "values": { "INPUT": 0, "OUTPUT": 1 } }, "BandwidthLimit": { "fields": { "interface": { "type": "string", "id": 1 }, "direction": { "type": "Direction", "id": 2 }, "rate_kbps": { "type": "uint32", "id": 3 }, "burst_bytes": { "type": "uint32", "id": 4 } } } } } } } } } },
};

export type Direction =
  | 'INPUT'
  | 'OUTPUT';

/** VPP drops what exceeds the rate on an interface. */
export interface BandwidthLimit {
  readonly interface: string;
  readonly direction: Direction;
  /** 1,000 bits a second. */
  readonly rate_kbps: number;
  /** How much may pass at once after a pause. */
  readonly burst_bytes: number;
}
export const BandwidthLimit: MessageType<BandwidthLimit> = messageType(file, 'ligato.vpp.policer.BandwidthLimit');
