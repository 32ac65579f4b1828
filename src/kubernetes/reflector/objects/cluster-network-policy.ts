/** The parts of ClusterNetworkPolicies. They are strict: a part with an unknown field may match less than what is known of it. */
import { type Static, type TProperties, Type } from 'typebox';
import { parseKubernetesCidr } from '#models/ip.ts';
import { objectSchema, Port, Text, Texts } from './meta.ts';
import { LabelSelector } from './policy.ts';
import { selectorFault } from './policy-part.ts';

const strict = <P extends TProperties>(fields: P) =>
  Type.Object(fields, { additionalProperties: false });

const NamespacedPod = strict({
  namespaceSelector: Type.Optional(LabelSelector),
  podSelector: Type.Optional(LabelSelector),
});

export const ClusterSubject = strict({
  namespaces: Type.Optional(LabelSelector),
  pods: Type.Optional(NamespacedPod),
});
export type ClusterSubject = Static<typeof ClusterSubject>;

const PodPeer = {
  namespaces: Type.Optional(LabelSelector),
  pods: Type.Optional(NamespacedPod),
};
export const ClusterIngressPeer = strict(PodPeer);
export const ClusterEgressPeer = strict({
  ...PodPeer,
  nodes: Type.Optional(LabelSelector),
  networks: Type.Optional(Texts),
  domainNames: Type.Optional(Texts),
});
export type ClusterEgressPeer = Static<typeof ClusterEgressPeer>;

const ofPorts = Type.Optional(
  strict({
    destinationPort: Type.Optional(
      strict({
        number: Type.Optional(Port),
        range: Type.Optional(strict({ start: Port, end: Port })),
      }),
    ),
  }),
);

export const ClusterProtocol = strict({
  tcp: ofPorts,
  udp: ofPorts,
  sctp: ofPorts,
  destinationNamedPort: Type.Optional(Type.String({ minLength: 1 })),
});
export type ClusterProtocol = Static<typeof ClusterProtocol>;

export const ClusterAction = Type.Enum(['Accept', 'Deny', 'Pass']);
const someElements = Type.Array(Type.Unknown(), { minItems: 1 });
const ruleFields = {
  name: Type.Optional(Text),
  action: ClusterAction,
  protocols: Type.Optional(someElements),
};
/** Peers and protocols are parts of their own. */
export const ClusterIngressRule = strict({ ...ruleFields, from: someElements });
export const ClusterEgressRule = strict({ ...ruleFields, to: someElements });

export const ClusterRules = Type.Array(Type.Unknown());
export const ClusterPolicySpec = strict({
  tier: Type.Enum(['Admin', 'Baseline']),
  priority: Type.Integer({ minimum: 0, maximum: 1000 }),
  subject: Type.Optional(Type.Unknown()),
  ingress: Type.Optional(Type.Unknown()),
  egress: Type.Optional(Type.Unknown()),
});

/** Its specification is read part by part: more would be permitted if one part were refused. */
export const KubeClusterNetworkPolicy = objectSchema('ClusterNetworkPolicy', {
  spec: Type.Optional(Type.Unknown()),
});
export type KubeClusterNetworkPolicy = Static<typeof KubeClusterNetworkPolicy>;

/** Why a part cannot be used, beyond the types of its fields. */
export function clusterSubjectFault({ namespaces, pods }: ClusterSubject): string | undefined {
  const fault = oneField({ namespaces, pods });
  return fault ?? selectorsFault(namespaces, pods?.namespaceSelector, pods?.podSelector);
}

export function clusterPeerFault(peer: ClusterEgressPeer): string | undefined {
  const { namespaces, pods, nodes, networks, domainNames } = peer;
  const fault = oneField({ namespaces, pods, nodes, networks, domainNames });
  if (fault !== undefined) return fault;
  if (domainNames !== undefined)
    return 'has domainNames, which this implementation does not support';
  if (networks?.length === 0) return 'has no networks';
  const invalid = networks?.find((text) => parseKubernetesCidr(text) === undefined);
  if (invalid !== undefined) return `has the network "${invalid}", must be a CIDR`;
  return selectorsFault(namespaces, pods?.namespaceSelector, pods?.podSelector, nodes);
}

export function clusterProtocolFault(protocol: ClusterProtocol): string | undefined {
  const fault = oneField(protocol);
  if (fault !== undefined) return fault;
  const { tcp, udp, sctp } = protocol;
  const port = (tcp ?? udp ?? sctp)?.destinationPort;
  if (port === undefined) return undefined;
  const { number, range } = port;
  if ((number === undefined) === (range === undefined))
    return 'has a destinationPort without number and range, or with both';
  return range && range.end < range.start ? 'has a range that ends before it starts' : undefined;
}

function oneField(fields: Readonly<Record<string, unknown>>): string | undefined {
  const count = Object.values(fields).filter((one) => one !== undefined).length;
  if (count === 1) return undefined;
  const names = Object.keys(fields).join(', ');
  return count === 0 ? 'has no field that is known' : `has several of ${names}`;
}

function selectorsFault(...selectors: readonly (LabelSelector | undefined)[]): string | undefined {
  for (const selector of selectors) {
    const fault = selector && selectorFault(selector);
    if (fault !== undefined) return fault;
  }
  return undefined;
}
