// Made from vpp/gso.proto by `npm run gen`; do not edit.
import { type MessageType, type ProtoFile, messageType } from '../message.ts';

export const file: ProtoFile = {
  name: 'vpp/gso.proto',
  imports: [],
  nested: { "ligato": { "nested": { "vpp": { "nested": { "gso": { "nested": { "Segmentation": { "fields": { "interface": { "type": "string", "id": 1 } } } } } } } } } },
};

/** VPP segments the GSO packets that it sends on an interface, unless its device does. */
export interface Segmentation {
  readonly interface: string;
}
export const Segmentation: MessageType<Segmentation> = messageType(file, 'ligato.vpp.gso.Segmentation');
