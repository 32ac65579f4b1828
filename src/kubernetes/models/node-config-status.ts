/**
 * The decisions of all nodes about their NodeConfigs are under one prefix, so that contiv-ksr can watch
 * them without the other records of the agents. Agents do not read them.
 */
import { createHash } from 'node:crypto';
import { defineModel } from '#models/define.ts';
import { keyTemplate } from '#models/key-template.ts';
import { type NodeConfig, nodeConfigModel } from './node-config.ts';
import { NodeConfigStatus } from './node-config-status.gen.ts';

export type { NodeConfigStatus } from './node-config-status.gen.ts';

/** Key in the datastore, without any other prefix. */
export const nodeConfigStatusKey = keyTemplate('/vnf-agent/contiv-nodeconfig/{name}', {
  name: '[^/]+',
});

export const nodeConfigStatusModel = defineModel<NodeConfigStatus>({
  message: NodeConfigStatus,
  keyPrefix: nodeConfigStatusKey.prefix(),
  key: ({ node_name }) => nodeConfigStatusKey.build({ name: node_name }),
});

/** Identifies the content of a NodeConfig record. */
export function nodeConfigDigest(value: NodeConfig): string {
  const text = JSON.stringify(nodeConfigModel.toJson(value));
  return createHash('sha256').update(text).digest('hex');
}

const specNames: Readonly<Record<string, string>> = {
  main_vpp_interface: 'mainVPPInterface',
  other_vpp_interfaces: 'otherVPPInterfaces',
  steal_interface: 'stealInterface',
  interface_name: 'interfaceName',
};

/** Path in the spec of the resource of a path in the record. */
export function specPath(path: string): string {
  return path
    .split('.')
    .map((name) => specNames[name] ?? name)
    .join('.');
}
