/** Documents about the nodes of the cluster, as this node knows them. */
import { Type } from 'typebox';
import { type DocumentOf, orNull, text, texts } from './document.ts';
import { InterfaceCounters } from './interfaces.ts';
import { ValueStates } from './value-states.ts';

export const NodeEncryption = Type.Union(
  [
    Type.Literal('encrypted'),
    Type.Literal('no-session'),
    Type.Literal('isolated'),
    Type.Literal('clear-text'),
    Type.Literal('unreachable'),
  ],
  {
    description:
      'no-session: both have keys; isolated: for want of a key that can be used; unreachable: for another reason.',
  },
);

export const NodeDocument = Type.Object({
  id: Type.Integer(),
  name: Type.String(),
  isThisNode: Type.Boolean(),
  vppAddresses: texts('With prefix length.'),
  managementAddresses: texts('Without prefix length.'),
  podCidr: text('Of the Node object; empty: unknown.'),
  problems: texts('What of its records this node does not use, and why.'),
  link: orNull(
    Type.Object({
      kind: Type.Union(
        [
          Type.Literal('tunnel'),
          Type.Literal('wireguard'),
          Type.Literal('routes'),
          Type.Literal('none'),
        ],
        {
          description:
            'tunnel: VXLAN; wireguard: encrypted; routes: without an overlay; none: the node cannot be reached.',
        },
      ),
      address: orNull(Type.String(), 'At which the node is reached; null: it is not.'),
      whyUnreachable: orNull(Type.String(), 'null: it can be reached.'),
      encryption: orNull(NodeEncryption, 'null: this node encrypts nothing.'),
      values: ValueStates,
    }),
    'How the node is reached; null: it is this node, or this node was not configured yet.',
  ),
  sessions: Type.Array(
    Type.Object({
      interface: text('Logical name.'),
      publicKey: text('Of the node, in Base64.'),
      isUsed: Type.Boolean({ description: 'Packets to the node take it.' }),
      isEstablished: Type.Boolean(),
      since: text('RFC 3339: when this agent saw that it was established, or ended.'),
    }),
    { description: 'Of WireGuard; empty: VPP has none with the node.' },
  ),
  tunnel: orNull(
    Type.Object({
      interface: text('Logical name.'),
      key: text('Of its value.'),
      state: text('Of its value.'),
      counters: orNull(InterfaceCounters, 'null: unknown.'),
    }),
    'null: there is none.',
  ),
});
export type NodeDocument = DocumentOf<typeof NodeDocument>;

export const NodeList = Type.Object({
  thisNode: text('Name.'),
  total: Type.Integer({ description: 'Nodes of the cluster that have an ID, with this one.' }),
  matching: Type.Integer({
    description: 'Those that match the arguments; as many as shown, or more.',
  }),
  collectedAt: orNull(Type.String(), 'RFC 3339: when the counters were read; null: they were not.'),
  countersError: orNull(Type.String(), 'Why there are no counters; null: there are.'),
  nodes: Type.Array(NodeDocument, { description: 'This node first, the others by ID.' }),
});
export type NodeList = DocumentOf<typeof NodeList>;
