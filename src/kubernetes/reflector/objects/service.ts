import { type Static, Type } from 'typebox';
import { objectSchema, Port, PortOrNone, Protocol, Text, TextMap, Texts } from './meta.ts';

const ServicePort = Type.Object({
  name: Type.Optional(Text),
  protocol: Type.Optional(Protocol),
  port: Port,
  targetPort: Type.Optional(Type.Union([PortOrNone, Text])),
  nodePort: Type.Optional(PortOrNone),
});
export type KubeServicePort = Static<typeof ServicePort>;

const Ingress = Type.Object({
  ip: Type.Optional(Text),
  ipMode: Type.Optional(Text),
  hostname: Type.Optional(Text),
});
export type KubeIngress = Static<typeof Ingress>;

export const KubeService = objectSchema('Service', {
  spec: Type.Object({
    type: Type.Optional(Type.Enum(['ClusterIP', 'NodePort', 'LoadBalancer', 'ExternalName'])),
    ports: Type.Optional(Type.Array(ServicePort)),
    selector: Type.Optional(TextMap),
    clusterIP: Type.Optional(Text),
    clusterIPs: Type.Optional(Texts),
    ipFamilies: Type.Optional(Type.Array(Type.Enum(['IPv4', 'IPv6']))),
    externalIPs: Type.Optional(Texts),
    sessionAffinity: Type.Optional(Type.Enum(['ClientIP', 'None'])),
    sessionAffinityConfig: Type.Optional(
      Type.Object({
        clientIP: Type.Optional(
          Type.Object({
            timeoutSeconds: Type.Optional(Type.Integer({ minimum: 1, maximum: 86400 })),
          }),
        ),
      }),
    ),
    loadBalancerIP: Type.Optional(Text),
    loadBalancerSourceRanges: Type.Optional(Texts),
    externalTrafficPolicy: Type.Optional(Type.Enum(['Local', 'Cluster'])),
    internalTrafficPolicy: Type.Optional(Type.Enum(['Local', 'Cluster'])),
    healthCheckNodePort: Type.Optional(PortOrNone),
    allocateLoadBalancerNodePorts: Type.Optional(Type.Boolean()),
    publishNotReadyAddresses: Type.Optional(Type.Boolean()),
    trafficDistribution: Type.Optional(Text),
  }),
  status: Type.Optional(
    Type.Object({
      loadBalancer: Type.Optional(Type.Object({ ingress: Type.Optional(Type.Array(Ingress)) })),
    }),
  ),
});
export type KubeService = Static<typeof KubeService>;
