import type { ClusterNetworkPolicy } from '#kubernetes/models/cluster-network-policy.ts';
import type { Namespace } from '#kubernetes/models/namespace.ts';
import type { Node } from '#kubernetes/models/node.ts';
import type { Pod } from '#kubernetes/models/pod.ts';
import type { Policy } from '#kubernetes/models/policy.ts';
import { resources } from '#kubernetes/resources/resources.ts';
import type { KubeValue } from '../test-node.ts';

/** The record of an object, as the database has it. */
export function recordOf(
  resource: 'pod' | 'namespace' | 'policy' | 'clusternetworkpolicy' | 'node',
  value: Pod | Namespace | Policy | ClusterNetworkPolicy | Node,
): KubeValue {
  const space = 'namespace' in value ? value.namespace : '';
  return { resource, key: resources[resource].key(value.name, space), value };
}
