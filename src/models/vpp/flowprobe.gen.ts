// Made from vpp/flowprobe.proto by `npm run gen`; do not edit.
import { type MessageType, type ProtoFile, messageType } from '../message.ts';

export const file: ProtoFile = {
  name: 'vpp/flowprobe.proto',
  imports: [],
  nested: { "ligato": { "nested": { "vpp": { "nested": { "flowprobe": { "nested": { "Exporter": { "fields": { "collector_address": { "type": "string", "id": 1 }, "collector_port": { "type": "uint32", "id": 2 }, "source_address": { "type": "string", "id": 3 } } }, "Probe": { "fields": { "interface": { "type": "string", "id": 1 } } } } } } } } } },
};

/** VPP sends what it has counted of flows to an address of its host, as IPFIX over UDP. */
export interface Exporter {
  readonly collector_address: string;
  readonly collector_port: number;
  readonly source_address: string;
}
export const Exporter: MessageType<Exporter> = messageType(file, 'ligato.vpp.flowprobe.Exporter');

/** VPP counts the flows of an interface. */
export interface Probe {
  readonly interface: string;
}
export const Probe: MessageType<Probe> = messageType(file, 'ligato.vpp.flowprobe.Probe');
