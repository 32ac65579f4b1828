import { type Static, Type } from 'typebox';
import { objectSchema, Port, Protocol, Text, Texts } from './meta.ts';

const Reference = Type.Object({
  kind: Type.Optional(Text),
  namespace: Type.Optional(Text),
  name: Type.Optional(Text),
  uid: Type.Optional(Text),
  apiVersion: Type.Optional(Text),
  resourceVersion: Type.Optional(Text),
});
export type KubeReference = Static<typeof Reference>;

const Address = Type.Object({
  ip: Text,
  hostname: Type.Optional(Text),
  nodeName: Type.Optional(Text),
  targetRef: Type.Optional(Reference),
});
export type KubeEndpointAddress = Static<typeof Address>;

export const KubeEndpoints = objectSchema('Endpoints', {
  subsets: Type.Optional(
    Type.Array(
      Type.Object({
        addresses: Type.Optional(Type.Array(Address)),
        notReadyAddresses: Type.Optional(Type.Array(Address)),
        ports: Type.Optional(
          Type.Array(
            Type.Object({
              name: Type.Optional(Text),
              port: Port,
              protocol: Type.Optional(Protocol),
            }),
          ),
        ),
      }),
    ),
  ),
});
export type KubeEndpoints = Static<typeof KubeEndpoints>;

const SliceEndpoint = Type.Object({
  addresses: Texts,
  conditions: Type.Optional(
    Type.Object({
      ready: Type.Optional(Type.Boolean()),
      serving: Type.Optional(Type.Boolean()),
      terminating: Type.Optional(Type.Boolean()),
    }),
  ),
  hostname: Type.Optional(Text),
  nodeName: Type.Optional(Text),
  targetRef: Type.Optional(Reference),
  hints: Type.Optional(
    Type.Object({
      forZones: Type.Optional(Type.Array(Type.Object({ name: Text }))),
      forNodes: Type.Optional(Type.Array(Type.Object({ name: Text }))),
    }),
  ),
});
export type KubeSliceEndpoint = Static<typeof SliceEndpoint>;

export const KubeEndpointSlice = objectSchema('EndpointSlice', {
  addressType: Type.Enum(['IPv4', 'IPv6', 'FQDN']),
  endpoints: Type.Optional(Type.Array(SliceEndpoint)),
  ports: Type.Optional(
    Type.Array(
      Type.Object({
        name: Type.Optional(Text),
        // Kubernetes accepts any number
        port: Type.Optional(Type.Integer()),
        protocol: Type.Optional(Protocol),
      }),
    ),
  ),
});
export type KubeEndpointSlice = Static<typeof KubeEndpointSlice>;

/** Annotation that the controllers of Kubernetes write into each slice that they change. */
export const TRIGGER_TIME = 'endpoints.kubernetes.io/last-change-trigger-time';

/** Name of the service of the slice, from its label. */
export function serviceOfSlice(slice: KubeEndpointSlice): string | undefined {
  return slice.metadata.labels?.['kubernetes.io/service-name'] || undefined;
}
