import { type Static, Type } from 'typebox';
import { objectSchema, Port, Protocol, Text, TextMap, Texts } from './meta.ts';

export const LabelSelector = Type.Object({
  matchLabels: Type.Optional(TextMap),
  matchExpressions: Type.Optional(
    Type.Array(
      Type.Object({
        key: Text,
        operator: Type.Enum(['In', 'NotIn', 'Exists', 'DoesNotExist']),
        values: Type.Optional(Texts),
      }),
    ),
  ),
});
export type LabelSelector = Static<typeof LabelSelector>;

const PolicyPort = Type.Object({
  protocol: Type.Optional(Protocol),
  port: Type.Optional(Type.Union([Port, Text])),
  endPort: Type.Optional(Port),
});
export type KubePolicyPort = Static<typeof PolicyPort>;

const PolicyPeer = Type.Object({
  podSelector: Type.Optional(LabelSelector),
  namespaceSelector: Type.Optional(LabelSelector),
  ipBlock: Type.Optional(Type.Object({ cidr: Text, except: Type.Optional(Texts) })),
});
export type KubePolicyPeer = Static<typeof PolicyPeer>;

const ports = Type.Optional(Type.Array(PolicyPort));
const peers = Type.Optional(Type.Array(PolicyPeer));

export const KubePolicy = objectSchema('NetworkPolicy', {
  spec: Type.Object({
    podSelector: Type.Optional(LabelSelector),
    policyTypes: Type.Optional(Type.Array(Type.Enum(['Ingress', 'Egress']))),
    ingress: Type.Optional(Type.Array(Type.Object({ ports, from: peers }))),
    egress: Type.Optional(Type.Array(Type.Object({ ports, to: peers }))),
  }),
});
export type KubePolicy = Static<typeof KubePolicy>;
