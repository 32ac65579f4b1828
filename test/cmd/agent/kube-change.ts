/** Changes of Kubernetes as the reflector writes them. */
import { REFLECTOR_PREFIX, resources } from '#kubernetes/resources/resources.ts';
import { valueText } from '#kubernetes/resources/value-text.ts';
import type { KubeValue } from '../../plugins/test-node.ts';
import type { Node } from './harness.ts';

/** Without a value: it is deleted. */
export type KubeChange = Omit<KubeValue, 'value'> & { readonly value?: object };

export async function writeChange(node: Node, { resource, key, value }: KubeChange): Promise<void> {
  const path = REFLECTOR_PREFIX + key;
  if (value === undefined) await node.cluster.delete(path);
  else await node.cluster.put(path, valueText(resources[resource], value));
}
