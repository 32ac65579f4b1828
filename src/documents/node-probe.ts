/** Packets from this node to another one and back. */
import { Type } from 'typebox';
import { count, type DocumentOf, orNull, text } from './document.ts';

const PathProbe = Type.Object({
  path: Type.Union([Type.Literal('underlay'), Type.Literal('overlay')], {
    description: 'underlay: between the main interfaces of VPP; overlay: in the VXLAN tunnel.',
  }),
  address: text('Of the other node.'),
  sent: count('Packets.'),
  received: count('Replies.'),
  rttMs: orNull(
    Type.Object({ min: Type.Number(), average: Type.Number(), max: Type.Number() }),
    'Round-trip times in milliseconds; null: no reply.',
  ),
  problem: orNull(Type.String(), 'Why VPP could not send; null: it could.'),
});
export type PathProbe = DocumentOf<typeof PathProbe>;

export const NodeProbe = Type.Object({
  node: text('Name of the other node.'),
  whyUnreachable: orNull(
    Type.String(),
    'Why this node has no way to the other one; null: it has one.',
  ),
  paths: Type.Array(PathProbe, { description: 'The overlay is absent where there is none.' }),
});
export type NodeProbe = DocumentOf<typeof NodeProbe>;
