/** Counters of an interface in documents, which are numbers there. */
import { type Static, Type } from 'typebox';
import type { InterfaceCounters } from '#plugins/controller/api/ports/stats.ts';

const counter = (description: string) => Type.Integer({ description });

export const interfaceCountersSchema = Type.Object(
  {
    rxPackets: counter('Received by VPP.'),
    rxBytes: counter('Received by VPP.'),
    txPackets: counter('Sent by VPP.'),
    txBytes: counter('Sent by VPP.'),
    drops: counter('Packets that VPP dropped.'),
    punts: counter('Packets that VPP passed to the host.'),
    ip4: counter('IPv4 packets.'),
    ip6: counter('IPv6 packets.'),
    rxNoBuffer: counter('Packets for which VPP had no buffer.'),
    rxMiss: counter('Packets that VPP received too late.'),
    rxErrors: counter('Errors on receive.'),
    txErrors: counter('Errors on send.'),
  },
  { description: 'Since the interface exists; from 0 again when VPP was restarted.' },
);

export type CountersDocument = Static<typeof interfaceCountersSchema>;

const names = Object.keys(interfaceCountersSchema.properties) as (keyof CountersDocument)[];

export function countersDocument(counters: InterfaceCounters): CountersDocument {
  const document = names.map((name) => [name, Number(counters[name])]);
  return Object.fromEntries(document) as CountersDocument;
}
