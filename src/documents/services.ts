/** Documents about the services of the cluster, as this node carries them. */
import { Type } from 'typebox';
import { type DocumentOf, orNull, text, texts } from './document.ts';
import { CarryingValue, ValueState } from './value-states.ts';

const addressFields = {
  kind: Type.Enum(['cluster-ip', 'node-port', 'external-ip', 'load-balancer', 'host-port']),
  portName: Type.String(),
  address: Type.String(),
  port: Type.Integer(),
  protocol: text('As in the object.'),
  whyNotRendered: Type.Optional(text('Absent: it is rendered.')),
  policy: Type.Enum(['Cluster', 'Local']),
  sourceRanges: Type.Optional(
    texts('Networks of the clients that may use it (loadBalancerSourceRanges). Absent: everyone.'),
  ),
};

const summaryFields = {
  name: text('namespace/name; namespace/pod:name for the host ports of a pod.'),
  whyNotRendered: Type.Optional(text('Why nothing of the service is rendered.')),
  renderer: orNull(
    Type.String(),
    'What carries the services of the node: nat44, or nat44 and sockets.',
  ),
  problems: texts('Requirements of the service, and endpoints, that cannot be met.'),
};

const ServiceAddressSummary = Type.Object({
  ...addressFields,
  backends: texts('Backends in use, as address:port.'),
  unusedBackends: Type.Integer(),
});
export type ServiceAddressSummary = DocumentOf<typeof ServiceAddressSummary>;

const ServiceSummary = Type.Object({
  ...summaryFields,
  rendered: Type.Boolean(),
  addresses: Type.Array(ServiceAddressSummary, { description: 'Rendered ones first.' }),
  values: Type.Array(ValueState, { description: 'The NAT mappings that carry the service.' }),
});
export type ServiceSummary = DocumentOf<typeof ServiceSummary>;

export const ServiceList = Type.Array(ServiceSummary);

const ServiceBackend = Type.Object({
  address: Type.String(),
  port: Type.Integer(),
  nodeName: text('Empty: unknown.'),
  pod: text('namespace/name; empty: it is not a pod.'),
  isLocal: Type.Boolean(),
  state: Type.Enum(['ready', 'terminating', 'not-ready']),
  whyNotUsed: Type.Optional(text('Absent: it is used.')),
});
export type ServiceBackend = DocumentOf<typeof ServiceBackend>;

const ServiceAddress = Type.Object({
  ...addressFields,
  backends: Type.Array(ServiceBackend, {
    description: 'Used ones first; none if the address is not rendered.',
  }),
});
export type ServiceAddress = DocumentOf<typeof ServiceAddress>;

export const ServiceDocument = Type.Object({
  ...summaryFields,
  addresses: Type.Array(ServiceAddress, { description: 'Rendered ones first.' }),
  healthCheck: orNull(
    Type.Object({
      port: Type.Integer(),
      localEndpoints: Type.Integer({ description: 'Ready endpoints of this node.' }),
      byKubeProxy: Type.Boolean({ description: 'Whether it is left to kube-proxy.' }),
      error: orNull(Type.String(), 'Why the agent cannot serve it; null: it is served.'),
    }),
    'For its load balancer; null: it has none.',
  ),
  values: Type.Array(CarryingValue, { description: 'The NAT mappings that carry the service.' }),
});
export type ServiceDocument = DocumentOf<typeof ServiceDocument>;
