/** Converts a Kubernetes object to its value for the datastore. */
import { InvalidModelError } from '#models/model.ts';
import { resources } from '../resources/resources.ts';
import { clusterNetworkPolicyValue } from './cluster-network-policy.ts';
import {
  customNetworkValue,
  externalInterfaceValue,
  nodeConfigValue,
  serviceFunctionChainValue,
} from './custom-resources.ts';
import { endpointsValue } from './endpoints.ts';
import { namespaceValue } from './namespace.ts';
import { nodeValue } from './node.ts';
import type { KubeEndpointSlice } from './objects/endpoints.ts';
import type { KubeObject, Rejection } from './objects/object.ts';
import type { Workload } from './objects/workload.ts';
import { podValue } from './pod.ts';
import { policyValue } from './policy.ts';
import { type Readers, type Reflected, reflected } from './reflected.ts';
import { omittedPreference, serviceValue } from './service.ts';

/** Objects that have their own value. The others are processed in sets: see endpoints, workloads. */
export type ReflectedObject = Exclude<KubeObject, Workload | KubeEndpointSlice>;

export type ReflectionResult =
  | { readonly reflected: Reflected; readonly rejection?: undefined }
  | { readonly reflected?: undefined; readonly rejection: Rejection };

/** Rejects objects that the model cannot represent, for example with invalid Unicode. */
export function reflect(object: ReflectedObject, readers: Readers): ReflectionResult {
  try {
    return { reflected: reflectedAs(object, readers) };
  } catch (thrown) {
    if (!(thrown instanceof InvalidModelError)) throw thrown;
    const { namespace, name } = object.metadata;
    return {
      rejection: {
        kind: object.kind,
        name: namespace === undefined ? name : `${namespace}/${name}`,
        reason: thrown.message,
      },
    };
  }
}

function reflectedAs(object: ReflectedObject, readers: Readers): Reflected {
  switch (object.kind) {
    case 'Pod':
      return reflected(resources.pod, podValue(object, readers));
    case 'Namespace':
      return reflected(resources.namespace, namespaceValue(object));
    case 'NetworkPolicy':
      return reflected(resources.policy, policyValue(object));
    case 'ClusterNetworkPolicy':
      return reflected(resources.clusternetworkpolicy, clusterNetworkPolicyValue(object));
    case 'Service':
      return {
        ...reflected(resources.service, serviceValue(object, readers)),
        omitted: omittedPreference(object, readers),
      };
    case 'Endpoints':
      return reflected(resources.endpoints, endpointsValue(object));
    case 'Node':
      return reflected(resources.node, nodeValue(object, readers));
    case 'NodeConfig':
      return reflected(resources.nodeconfig, nodeConfigValue(object));
    case 'CustomNetwork':
      return reflected(resources.customnetwork, customNetworkValue(object));
    case 'ExternalInterface':
      return reflected(resources['external-interface'], externalInterfaceValue(object));
    case 'ServiceFunctionChain':
      return reflected(resources.servicefunctionchain, serviceFunctionChainValue(object));
  }
}
