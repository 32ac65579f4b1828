/** Converts single objects of Kubernetes that decide about connectivity and services, as the reflector does. */
import {
  withNamespaceDefaults,
  withPodDefaults,
  withPolicyDefaults,
  withServiceDefaults,
} from '#kubernetes/reflector/defaults.ts';
import { mergedSlices } from '#kubernetes/reflector/endpoints.ts';
import { type KubeEndpointSlice, serviceOfSlice } from '#kubernetes/reflector/objects/endpoints.ts';
import { namespaceOf } from '#kubernetes/reflector/objects/meta.ts';
import { type KubeObject, readObject } from '#kubernetes/reflector/objects/object.ts';
import { type ReflectedObject, reflect } from '#kubernetes/reflector/reflect.ts';
import { resources } from '#kubernetes/resources/resources.ts';
import { InvalidModelError } from '#models/model.ts';
import type { ReflectObject } from '#plugins/policy/connectivity/cluster-change.ts';

export const reflectedObject: ReflectObject = (input) => {
  const read = readObject(input);
  if (read.rejection) return { reason: read.rejection.reason };
  if (read.object.kind === 'EndpointSlice') return reflectedSlice(read.object);
  const object = withDefaults(read.object);
  if (object === undefined)
    return {
      reason: `objects of kind ${read.object.kind} do not decide about connectivity or services`,
    };
  const { reflected, rejection } = reflect(object, 'own');
  if (rejection) return { reason: rejection.reason };
  const { resource, key, value } = reflected;
  return { keyword: resource.keyword, key, value };
};

/** undefined: policies and services do not depend on objects of this kind. */
function withDefaults(object: KubeObject): ReflectedObject | undefined {
  switch (object.kind) {
    case 'Namespace':
      return withNamespaceDefaults(object);
    case 'Pod':
      return withPodDefaults(object);
    case 'Service':
      return withServiceDefaults(object);
    case 'NetworkPolicy':
      return withPolicyDefaults(object);
    case 'Endpoints':
    case 'Node':
    case 'ClusterNetworkPolicy':
      return object;
    default:
      return undefined;
  }
}

/** A part of the endpoints of its service. */
function reflectedSlice(slice: KubeEndpointSlice): ReturnType<ReflectObject> {
  const name = serviceOfSlice(slice);
  if (name === undefined)
    return { reason: 'the slice is without the label kubernetes.io/service-name' };
  const namespace = namespaceOf(slice);
  try {
    const { endpoints } = resources;
    const value = mergedSlices({ name, namespace }, [slice], 'own');
    return { keyword: endpoints.keyword, key: endpoints.key(name, namespace), value, isPart: true };
  } catch (thrown) {
    if (thrown instanceof InvalidModelError) return { reason: thrown.message };
    throw thrown;
  }
}
