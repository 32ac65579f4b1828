import { defineModel } from '#models/define.ts';
import { clusterKey } from './keys.ts';
import { Node } from './node.gen.ts';
import { addressOrText, cidrOrText, labels } from './shared-rules.ts';

export type { Node, NodeAddress } from './node.gen.ts';

export const nodeKey = clusterKey('node');

export const nodeModel = defineModel<Node>({
  message: Node,
  keyPrefix: nodeKey.prefix(),
  key: ({ name }) => nodeKey.build({ name }),
  rules: { pod_CIDR: cidrOrText, addresses: { address: addressOrText }, label: labels },
});
