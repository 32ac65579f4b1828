import { defineModel } from '../define.ts';
import { clusterKey } from './keys.ts';
import { NodeConfig } from './nodeconfig.gen.ts';

export type { NodeConfig, NodeConfigInterfaceConfig } from './nodeconfig.gen.ts';

export const nodeConfigKey = clusterKey('nodeconfig');

export const nodeConfigModel = defineModel<NodeConfig>({
  message: NodeConfig,
  keyPrefix: nodeConfigKey.prefix(),
  key: ({ node_name }) => nodeConfigKey.build({ name: node_name }),
});
