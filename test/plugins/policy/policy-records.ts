import type { Namespace } from '#kubernetes/models/namespace.ts';
import type { Pod } from '#kubernetes/models/pod.ts';
import type { Policy } from '#kubernetes/models/policy.ts';
import { resources } from '#kubernetes/resources/resources.ts';
import type { KubeValue } from '../test-node.ts';

/** The record of an object, as the database has it. */
export function recordOf(
  resource: 'pod' | 'namespace' | 'policy',
  value: Pod | Namespace | Policy,
): KubeValue {
  const space = 'namespace' in value ? value.namespace : '';
  return { resource, key: resources[resource].key(value.name, space), value };
}
