/** The way of a packet through this node, and that of its reply. */
import { Type } from 'typebox';
import { type DocumentOf, orNull, text } from './document.ts';

const TracedEnd = Type.Object({
  name: text('As it was asked.'),
  kind: Type.Enum(['pod', 'service', 'address']),
  address: Type.String(),
});
export type TracedEnd = DocumentOf<typeof TracedEnd>;

const continuation = Type.Object({
  node: text('Empty: no node has the address.'),
  address: text('To which the packet was sent.'),
  isTunnel: Type.Boolean({ description: 'Whether it left in a tunnel of VXLAN or WireGuard.' }),
});

const OneWay = Type.Object({
  verdict: Type.Enum(['delivered', 'dropped', 'refused', 'left']),
  hops: Type.Array(
    Type.Object({
      device: Type.String(),
      description: Type.String(),
      key: text('Of the value that decided; empty if none did.'),
    }),
  ),
  continuesOn: orNull(continuation, 'Where the packet left this node: the trace ends there.'),
});
export type OneWay = DocumentOf<typeof OneWay>;
export type Hop = OneWay['hops'][number];

export const PairTrace = Type.Object({
  node: Type.String(),
  view: Type.Enum(['SB', 'NB']),
  from: TracedEnd,
  to: TracedEnd,
  packet: Type.Object({
    source: Type.String(),
    destination: Type.String(),
    protocol: Type.Union([Type.String(), Type.Null()]),
    sourcePort: Type.Union([Type.Integer(), Type.Null()]),
    destinationPort: Type.Union([Type.Integer(), Type.Null()]),
  }),
  verdict: Type.Enum(['delivered', 'continues', 'failed'], {
    description:
      'delivered: packet and reply arrive on all paths; continues: as far as this node is concerned; failed.',
  }),
  paths: Type.Array(
    Type.Object({
      share: Type.Number({ description: 'Of all connections.' }),
      trace: OneWay,
      reply: orNull(OneWay, 'null: it was not delivered here.'),
    }),
  ),
  omittedPaths: Type.Integer({ description: 'Paths that are not listed: those of more backends.' }),
  command: text('Traces the packet through all nodes.'),
});
export type PairTrace = DocumentOf<typeof PairTrace>;
export type TracedPath = PairTrace['paths'][number];
