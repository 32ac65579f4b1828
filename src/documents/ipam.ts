/** Documents about addresses, in the format that netctl and the telemetry validator of the original read. */
import { Type } from 'typebox';
import { type DocumentOf, orNull, text } from './document.ts';

const config = Type.Object(
  { podSubnetCIDR: Type.Optional(Type.String()) },
  {
    additionalProperties: true,
    description: 'Keys as in the configuration file; empty, 0 and false values are omitted.',
  },
);

const overlayAddress = Type.Optional(
  text('By which other nodes route to this one with WireGuard; absent: they do not.'),
);

export const IpamDocument = Type.Object({
  nodeId: Type.Integer(),
  nodeName: Type.String(),
  nodeIP: text('Without prefix length.'),
  podSubnetThisNode: Type.String(),
  vppHostNetwork: Type.String(),
  overlayAddress,
  config,
  furtherNetworks: Type.Optional(
    Type.Array(
      Type.Object({
        nodeIP: text('Without prefix length; empty: the node has none of this family.'),
        podSubnetThisNode: Type.String(),
        vppHostNetwork: Type.String(),
        overlayAddress,
        config,
      }),
      {
        description:
          'Those of the second family of the pods; the other fields are about the primary one. Absent: the pods have one family.',
      },
    ),
  ),
});
export type IpamDocument = DocumentOf<typeof IpamDocument>;

export const Allocations = Type.Object({
  Pods: Type.Array(
    Type.Object({
      PodID: Type.Object({ Name: Type.String(), Namespace: Type.String() }),
      MainIP: Type.String(),
      CustomIfIPs: orNull(
        Type.Record(Type.String(), Type.String()),
        'Addresses of further interfaces by their names; null if there are none.',
      ),
      FurtherIPs: Type.Optional(
        Type.Record(Type.String(), Type.Array(Type.String()), {
          description: 'Addresses of the second family by the names of interfaces.',
        }),
      ),
    }),
  ),
});
export type Allocations = DocumentOf<typeof Allocations>;
