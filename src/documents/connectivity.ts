/** Documents about who may reach whom in the whole cluster, and what a change would do. */
import { Type } from 'typebox';
import { type DocumentOf, orNull, text, texts } from './document.ts';
import { PolicyRule } from './policy-rule.ts';

export const Endpoint = Type.Object({
  name: text('default/web[Deployment], or a range of addresses outside of the cluster.'),
  pods: Type.Optional(texts('namespace/name.')),
  address: Type.Optional(text('Of a range: one that stands for all.')),
});
export type Endpoint = DocumentOf<typeof Endpoint>;

export const Connection = Type.Object({
  from: Type.String(),
  to: Type.String(),
  ports: text('All Connections, or the ports by protocol: TCP 80,8080-8090,UDP 53.'),
});
export type Connection = DocumentOf<typeof Connection>;

/** A pod that is in no list of connections. */
export const UnlistedPod = Type.Object({ pod: Type.String(), reason: Type.String() });
export type UnlistedPod = DocumentOf<typeof UnlistedPod>;

export const ConnectivityDocument = Type.Object({
  endpoints: Type.Array(Endpoint),
  connections: Type.Array(Connection),
  unlisted: Type.Array(UnlistedPod),
  sources: texts('Names of endpoints, as many as the limit allows.'),
  destinations: texts('Names of endpoints, as many as the limit allows.'),
  matching: Type.Object(
    { sources: Type.Integer(), destinations: Type.Integer(), unlisted: Type.Integer() },
    { description: 'How many the filters select.' },
  ),
  namespaces: texts('Of all endpoints.'),
});
export type ConnectivityDocument = DocumentOf<typeof ConnectivityDocument>;

const Direction = Type.Object({
  policies: texts('That apply to the pod, in the order in which they decide.'),
  rules: Type.Array(PolicyRule, { description: 'That match, with the ports that they decide.' }),
  undecided: text('Ports that are permitted because no rule decides about them.'),
});
export type Direction = DocumentOf<typeof Direction>;

export const PairDocument = Type.Object({
  from: Type.String(),
  to: Type.String(),
  port: orNull(Type.String(), 'That was asked for.'),
  verdict: Type.Enum(['permitted', 'denied']),
  ports: Type.String(),
  otherFamilies: orNull(
    Type.Object({ from: Type.String(), to: Type.String() }),
    'When the ends have no address family in common.',
  ),
  egress: orNull(Direction, 'null: an address outside, or both ends are the same pod.'),
  ingress: orNull(Direction, 'null: an address outside, or both ends are the same pod.'),
});
export type PairDocument = DocumentOf<typeof PairDocument>;

/** All connections; of one pair with the arguments from and to. */
export const ConnectivityReply = Type.Union([ConnectivityDocument, PairDocument]);

export const ValueOperation = Type.Object({
  operation: Type.Enum(['create', 'update', 'delete']),
  key: Type.String(),
  before: orNull(Type.Object({}), 'null: there is none.'),
  after: orNull(Type.Object({}), 'null: there is none.'),
});
export type ValueOperation = DocumentOf<typeof ValueOperation>;

/** Part of a node that forwards the clients of an address. */
const AddressCarrier = Type.Object({
  carrier: Type.Enum(['NAT44', 'cnat', 'sockets']),
  backends: Type.Optional(
    texts('As address:port. Absent: those of the address. Empty: its clients are refused.'),
  ),
});
export type AddressCarrier = DocumentOf<typeof AddressCarrier>;

const ServedAddress = Type.Object({
  kind: Type.String(),
  address: Type.String(),
  port: Type.Integer(),
  protocol: Type.String(),
  backends: texts('address:port.'),
  sourceRanges: Type.Optional(texts('Networks of the clients that may use it. Absent: everyone.')),
  carriers: Type.Array(AddressCarrier),
});
export type ServedAddress = DocumentOf<typeof ServedAddress>;

export const ServiceChange = Type.Object({
  service: text('namespace/name.'),
  before: orNull(Type.Array(ServedAddress), 'null: nothing of it is served.'),
  after: orNull(Type.Array(ServedAddress), 'null: nothing of it is served.'),
});
export type ServiceChange = DocumentOf<typeof ServiceChange>;

export const ConnectionChange = Type.Object({
  from: Type.String(),
  to: Type.String(),
  before: Type.String(),
  after: Type.String(),
  reasons: Type.Optional(
    Type.Array(Type.String(), {
      description:
        'Rules that deny or accept the ports that change, and `before:` those that denied them, by tier, policy and position.',
    }),
  ),
});
export type ConnectionChange = DocumentOf<typeof ConnectionChange>;

/** The effects of a change of Kubernetes objects. */
export const ClusterPlan = Type.Object({
  problems: Type.Array(Type.Object({ text: Type.String() })),
  operations: Type.Array(ValueOperation, { description: 'On the values of this node.' }),
  services: Type.Array(ServiceChange),
  changes: Type.Array(ConnectionChange),
  endpoints: Type.Array(Endpoint),
  unlisted: Type.Array(UnlistedPod),
});
export type ClusterPlan = DocumentOf<typeof ClusterPlan>;
