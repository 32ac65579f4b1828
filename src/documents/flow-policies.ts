/** Documents of network policies beside the connections that were seen. */
import { Type } from 'typebox';
import { count, type DocumentOf, text } from './document.ts';
import { Flow } from './flows.ts';

const labels = Type.Record(Type.String(), Type.String(), {
  description: 'Labels that all pods of the workload have, without those of controllers.',
});

const SeenEnd = Type.Object({
  kind: Type.Union([Type.Literal('pod'), Type.Literal('node'), Type.Literal('outside')]),
  name: text('`<namespace>/<name>` of the workload, name of the node, or the address.'),
  address: text('Of an end outside or a node; empty for pods.'),
  labels,
});
export type SeenEnd = DocumentOf<typeof SeenEnd>;

export const SeenPair = Type.Object({
  client: SeenEnd,
  server: SeenEnd,
  protocol: Flow.properties.protocol,
  port: count('Of the pod that receives.'),
  connections: count('That were opened.'),
});
export type SeenPair = DocumentOf<typeof SeenPair>;

export const PermissionUse = Type.Object({
  policy: text('`<namespace>/<name>`.'),
  direction: Type.Union([Type.Literal('ingress'), Type.Literal('egress')]),
  rule: count('Position in the list of rules of this direction, from 0.'),
  connections: count(
    'That it permits, of those that were opened; another rule may permit them, too.',
  ),
});
export type PermissionUse = DocumentOf<typeof PermissionUse>;

export const SeenPolicies = Type.Object({
  node: Type.String(),
  since: text('RFC 3339: of the oldest record.'),
  pairs: Type.Array(SeenPair, { description: 'Each connection at one node of the cluster alone.' }),
  permissions: Type.Array(PermissionUse),
  unknown: count(
    'Connections to services that VPP translates: which pod has answered is not known.',
  ),
});
export type SeenPolicies = DocumentOf<typeof SeenPolicies>;

const RefusedPair = Type.Object({
  client: text('As in flows: a pod, or an address.'),
  server: text('Likewise.'),
  protocol: Flow.properties.protocol,
  port: count('Of the server.'),
  connections: count('That were open in the last hour; of UDP conversations.'),
  last: text('RFC 3339: when the last of them began.'),
  reason: text('Which policy would deny it.'),
});
export type RefusedPair = DocumentOf<typeof RefusedPair>;

export const FlowPlan = Type.Object({
  node: Type.String(),
  since: text('RFC 3339: only connections that were open since then.'),
  connections: count('That were compared; each at one node of the cluster alone.'),
  unknown: count(
    'Connections to services that VPP translates: which pod has answered is not known.',
  ),
  refused: Type.Array(RefusedPair, { description: 'Most connections first.' }),
});
export type FlowPlan = DocumentOf<typeof FlowPlan>;
