// Made from vpp/stn.proto by `npm run gen`; do not edit.
import { type MessageType, type ProtoFile, messageType } from '../message.ts';

export const file: ProtoFile = {
  name: 'vpp/stn.proto',
  imports: [],
  nested: { "ligato": { "nested": { "vpp": { "nested": { "stn": { "nested": { "Rule": { "fields": { "ip_address": { "type": "string", "id": 1 }, "interface": { "type": "string", "id": 2 } } } } } } } } } },
};

/** Packets to the address are handed to the interface. */
export interface Rule {
  readonly ip_address: string;
  readonly interface: string;
}
export const Rule: MessageType<Rule> = messageType(file, 'ligato.vpp.stn.Rule');
