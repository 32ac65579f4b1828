import { defineModel } from '#models/define.ts';
import { clusterKey } from './keys.ts';
import { NodeConfig } from './node-config.gen.ts';

export type { NodeConfig, NodeConfigInterfaceConfig } from './node-config.gen.ts';

export const nodeConfigKey = clusterKey('nodeconfig');

export const nodeConfigModel = defineModel<NodeConfig>({
  message: NodeConfig,
  keyPrefix: nodeConfigKey.prefix(),
  key: ({ node_name }) => nodeConfigKey.build({ name: node_name }),
});
