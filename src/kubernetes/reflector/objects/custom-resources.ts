/** Contiv's own custom resources. */
import { type Static, Type } from 'typebox';
import { objectSchema, Text, TextMap } from './meta.ts';

const InterfaceConfig = Type.Object({
  interfaceName: Type.Optional(Text),
  ip: Type.Optional(Text),
  useDHCP: Type.Optional(Type.Boolean()),
});
export type KubeInterfaceConfig = Static<typeof InterfaceConfig>;

export const KubeNodeConfig = objectSchema('NodeConfig', {
  spec: Type.Object({
    mainVPPInterface: Type.Optional(InterfaceConfig),
    otherVPPInterfaces: Type.Optional(Type.Array(InterfaceConfig)),
    stealInterface: Type.Optional(Text),
    gateway: Type.Optional(Text),
    natExternalTraffic: Type.Optional(Type.Boolean()),
  }),
});
export type KubeNodeConfig = Static<typeof KubeNodeConfig>;

const Layer = Type.Enum(['L2', 'L3']);
const PrefixLength = Type.Integer({ minimum: 0, maximum: 128 });

export const KubeCustomNetwork = objectSchema('CustomNetwork', {
  spec: Type.Object({
    type: Layer,
    subnetCIDR: Type.Optional(Text),
    // the installed CRD schema and the code of the original use different names for this field
    subnetOneNodePrefixLen: Type.Optional(PrefixLength),
    subnetOneNodePrefix: Type.Optional(PrefixLength),
  }),
});
export type KubeCustomNetwork = Static<typeof KubeCustomNetwork>;

export const KubeExternalInterface = objectSchema('ExternalInterface', {
  spec: Type.Object({
    type: Layer,
    network: Type.Optional(Text),
    nodes: Type.Optional(
      Type.Array(
        Type.Object({
          node: Text,
          vppInterfaceName: Text,
          ip: Type.Optional(Text),
          vlan: Type.Optional(Type.Integer({ minimum: 0, maximum: 4094 })),
        }),
      ),
    ),
  }),
});
export type KubeExternalInterface = Static<typeof KubeExternalInterface>;

export const KubeServiceFunctionChain = objectSchema('ServiceFunctionChain', {
  spec: Type.Object({
    unidirectional: Type.Optional(Type.Boolean()),
    network: Type.Optional(Text),
    chain: Type.Optional(
      Type.Array(
        Type.Object({
          name: Type.Optional(Text),
          type: Type.Optional(Type.Enum(['Pod', 'ExternalInterface'])),
          podSelector: Type.Optional(TextMap),
          interface: Type.Optional(Text),
          inputInterface: Type.Optional(Text),
          outputInterface: Type.Optional(Text),
        }),
      ),
    ),
  }),
});
export type KubeServiceFunctionChain = Static<typeof KubeServiceFunctionChain>;
