/** Documents about the interfaces of this node. */
import { Type } from 'typebox';
import { type DocumentOf, orNull, text } from './document.ts';

const counter = (description: string) => Type.Integer({ description });

export const InterfaceCounters = Type.Object(
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
export type InterfaceCounters = DocumentOf<typeof InterfaceCounters>;

export const roleKinds = ['pod', 'tunnel', 'uplink', 'hostLink', 'internal'] as const;

/** Purpose and owner of an interface. */
export const InterfaceRole = Type.Object({
  kind: Type.Enum(roleKinds, {
    description:
      'tunnel: to another node; uplink: a NIC; hostLink: between VPP and the host; internal: such as the BVI of the overlay.',
  }),
  pod: Type.Optional(text('Of a pod: namespace/name.')),
  node: Type.Optional(text('Of a tunnel: the other node.')),
});
export type InterfaceRole = DocumentOf<typeof InterfaceRole>;

export const InterfaceList = Type.Object({
  collectedAt: orNull(Type.String(), 'RFC 3339: when the counters were read; null: they were not.'),
  error: orNull(Type.String(), 'Why there are no counters; null: there are.'),
  matching: Type.Integer({
    description: 'Interfaces that match the arguments; as many as shown, or more.',
  }),
  interfaces: Type.Array(
    Type.Object({
      name: text('Logical name.'),
      vppName: text('Name that VPP gave it.'),
      swIfIndex: Type.Integer(),
      owner: InterfaceRole,
      counters: InterfaceCounters,
    }),
    { description: 'In the order of their index.' },
  ),
});
export type InterfaceList = DocumentOf<typeof InterfaceList>;
