/** Converts single objects of Kubernetes that decide about connectivity, as the reflector does. */
import {
  withNamespaceDefaults,
  withPodDefaults,
  withPolicyDefaults,
} from '#kubernetes/reflector/defaults.ts';
import { type KubeObject, readObject } from '#kubernetes/reflector/objects/object.ts';
import { type ReflectedObject, reflect } from '#kubernetes/reflector/reflect.ts';
import type { ReflectObject } from '#plugins/policy/connectivity/cluster-change.ts';

export const reflectedObject: ReflectObject = (input) => {
  const read = readObject(input);
  if (read.rejection) return { reason: read.rejection.reason };
  const object = withDefaults(read.object);
  if (object === undefined)
    return { reason: `objects of kind ${read.object.kind} do not decide about connectivity` };
  const { reflected, rejection } = reflect(object, 'own');
  if (rejection) return { reason: rejection.reason };
  const { resource, key, value } = reflected;
  return { keyword: resource.keyword, key, value };
};

/** undefined: policies do not depend on objects of this kind. */
function withDefaults(object: KubeObject): ReflectedObject | undefined {
  switch (object.kind) {
    case 'NetworkPolicy':
      return withPolicyDefaults(object);
    case 'Namespace':
      return withNamespaceDefaults(object);
    case 'Pod':
      return withPodDefaults(object);
    default:
      return undefined;
  }
}
