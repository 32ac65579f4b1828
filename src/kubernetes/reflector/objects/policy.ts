/** The parts of NetworkPolicies. They are strict: a part with an unknown field may be narrower than what is known of it. */
import { type Static, type TProperties, Type } from 'typebox';
import { objectSchema, Port, Protocol, Text, TextMap, Texts } from './meta.ts';

const strict = <P extends TProperties>(fields: P) =>
  Type.Object(fields, { additionalProperties: false });

export const LabelSelector = strict({
  matchLabels: Type.Optional(TextMap),
  matchExpressions: Type.Optional(
    Type.Array(
      strict({
        key: Text,
        operator: Type.Enum(['In', 'NotIn', 'Exists', 'DoesNotExist']),
        values: Type.Optional(Texts),
      }),
    ),
  ),
});
export type LabelSelector = Static<typeof LabelSelector>;

export const KubePolicyPort = strict({
  protocol: Type.Optional(Protocol),
  port: Type.Optional(Type.Union([Port, Text])),
  endPort: Type.Optional(Port),
});
export type KubePolicyPort = Static<typeof KubePolicyPort>;

export const KubePolicyPeer = strict({
  podSelector: Type.Optional(LabelSelector),
  namespaceSelector: Type.Optional(LabelSelector),
  ipBlock: Type.Optional(strict({ cidr: Text, except: Type.Optional(Texts) })),
});
export type KubePolicyPeer = Static<typeof KubePolicyPeer>;

const elements = Type.Optional(Type.Array(Type.Unknown()));

/** The elements of lists, and the fields of the specification, are parts of their own. */
export const KubePolicyRules = Type.Array(Type.Unknown());
export const KubeIngressRule = strict({ ports: elements, from: elements });
export const KubeEgressRule = strict({ ports: elements, to: elements });
export const KubePolicyTypes = Type.Array(Type.Enum(['Ingress', 'Egress']));
export const KubePolicySpec = strict({
  podSelector: Type.Optional(Type.Unknown()),
  policyTypes: Type.Optional(Type.Unknown()),
  ingress: Type.Optional(Type.Unknown()),
  egress: Type.Optional(Type.Unknown()),
});

/** Its specification is read part by part: the policy would be open if one part were refused. */
export const KubePolicy = objectSchema('NetworkPolicy', { spec: Type.Optional(Type.Unknown()) });
export type KubePolicy = Static<typeof KubePolicy>;
