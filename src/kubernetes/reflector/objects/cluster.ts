/** Cluster-scoped objects. */
import { type Static, Type } from 'typebox';
import { objectSchema, Text } from './meta.ts';

export const KubeNamespace = objectSchema('Namespace', {});
export type KubeNamespace = Static<typeof KubeNamespace>;

export const KubeNode = objectSchema('Node', {
  spec: Type.Optional(
    Type.Object({ podCIDR: Type.Optional(Text), providerID: Type.Optional(Text) }),
  ),
  status: Type.Optional(
    Type.Object({
      addresses: Type.Optional(Type.Array(Type.Object({ type: Text, address: Text }))),
      nodeInfo: Type.Optional(
        Type.Object({
          machineID: Type.Optional(Text),
          systemUUID: Type.Optional(Text),
          bootID: Type.Optional(Text),
          kernelVersion: Type.Optional(Text),
          osImage: Type.Optional(Text),
          containerRuntimeVersion: Type.Optional(Text),
          kubeletVersion: Type.Optional(Text),
          kubeProxyVersion: Type.Optional(Text),
          operatingSystem: Type.Optional(Text),
          architecture: Type.Optional(Text),
        }),
      ),
    }),
  ),
});
export type KubeNode = Static<typeof KubeNode>;
