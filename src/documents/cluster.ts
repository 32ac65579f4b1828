/** The nodes of the cluster at a glance: what each says about itself, and why others say nothing. */
import { Type } from 'typebox';
import { count, type DocumentOf, orNull, text, texts } from './document.ts';

const problemFields = {
  component: text('Of the agent; link: the way to another node.'),
  severity: Type.Union([Type.Literal('error'), Type.Literal('warning')], {
    description: 'error: the node is not ready because of it.',
  }),
  text: text('What is wrong.'),
  code: orNull(Type.String(), 'Of the error in docs/errors.md; null: it has none.'),
  remedy: text('What to do.'),
};
const since = orNull(Type.String(), 'RFC 3339, by the clock of the node; null: unknown.');

/** The status of a node, by its own agent. */
export const NodeStatus = Type.Object({
  name: Type.String(),
  id: orNull(Type.Integer(), 'null: the node has none yet.'),
  state: Type.Enum(['ready', 'starting', 'not ready']),
  since,
  now: text('RFC 3339: the clock of the node.'),
  agent: text('Release.'),
  vpp: orNull(Type.String(), 'Release; null: VPP is not connected.'),
  problems: Type.Array(Type.Object({ ...problemFields, since })),
});
export type NodeStatus = DocumentOf<typeof NodeStatus>;

const ClusterProblem = Type.Object({
  ...problemFields,
  nodes: Type.Array(Type.Object({ name: Type.String(), since })),
});
export type ClusterProblem = DocumentOf<typeof ClusterProblem>;

const ClusterNode = Type.Object({
  name: Type.String(),
  id: orNull(Type.Integer(), 'null: the node has none yet.'),
  status: orNull(NodeStatus, 'null: the node has not answered.'),
  failure: orNull(
    Type.Object({
      reason: text('As of netctl: docs/netctl.md lists them.'),
      text: text('What happened.'),
      remedy: text('What to do.'),
    }),
    'Why it has not answered; null: it has.',
  ),
});
export type ClusterNode = DocumentOf<typeof ClusterNode>;

const clusterFields = {
  cluster: text('Name of the cluster (cluster-name in http.conf); empty: none is configured.'),
  thisNode: text('Name of the node that answers.'),
  total: count('Nodes of the cluster that have an ID, with this one.'),
};

export const ClusterStatus = Type.Object({
  ...clusterFields,
  matching: count('Those that match the search; as many as were asked, or more.'),
  nodes: Type.Array(ClusterNode, { description: 'This node first, the others by ID.' }),
  problems: Type.Array(ClusterProblem, {
    description: 'Of the nodes that were asked; the same problem of several nodes once.',
  }),
});
export type ClusterStatus = DocumentOf<typeof ClusterStatus>;

export const ClusterNames = Type.Object({
  ...clusterFields,
  nodes: texts('Names, up to 200: this node first, the others by ID.'),
});
export type ClusterNames = DocumentOf<typeof ClusterNames>;
