/** Documents about the nodes of the cluster, as this node knows them. */
import { type Static, Type } from 'typebox';
import { valueStatesSchema } from '#plugins/controller/api/value-states.ts';
import { interfaceCountersSchema } from '#plugins/statscollector/api.ts';

const orNull = <T extends Type.TSchema>(schema: T, description: string) =>
  Type.Union([schema, Type.Null()], { description });

export const nodeSchema = Type.Object({
  id: Type.Integer(),
  name: Type.String(),
  isThisNode: Type.Boolean(),
  vppAddresses: Type.Array(Type.String(), { description: 'With prefix length.' }),
  managementAddresses: Type.Array(Type.String(), { description: 'Without prefix length.' }),
  podCidr: Type.String({ description: 'Of the Node object; empty: unknown.' }),
  link: orNull(
    Type.Object({
      kind: Type.Union([Type.Literal('tunnel'), Type.Literal('routes'), Type.Literal('none')], {
        description: 'routes: without an overlay; none: the node cannot be reached.',
      }),
      address: orNull(Type.String(), 'At which the node is reached; null: it is not.'),
      whyUnreachable: orNull(Type.String(), 'null: it can be reached.'),
      values: valueStatesSchema,
    }),
    'How the node is reached; null: it is this node, or this node was not configured yet.',
  ),
  tunnel: orNull(
    Type.Object({
      interface: Type.String({ description: 'Logical name.' }),
      key: Type.String({ description: 'Of its value.' }),
      state: Type.String({ description: 'Of its value.' }),
      counters: orNull(interfaceCountersSchema, 'null: unknown.'),
    }),
    'null: there is none.',
  ),
});

export const nodeListSchema = Type.Object({
  thisNode: Type.String({ description: 'Name.' }),
  total: Type.Integer({ description: 'Nodes of the cluster that have an ID, with this one.' }),
  matching: Type.Integer({
    description: 'Those that match the arguments; as many as shown, or more.',
  }),
  collectedAt: orNull(Type.String(), 'RFC 3339: when the counters were read; null: they were not.'),
  countersError: orNull(Type.String(), 'Why there are no counters; null: there are.'),
  nodes: Type.Array(nodeSchema, { description: 'This node first, the others by ID.' }),
});

export type NodeDocument = Static<typeof nodeSchema>;
