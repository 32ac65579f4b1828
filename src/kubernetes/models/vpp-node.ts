import { defineModel } from '#models/define.ts';
import { keyTemplate } from '#models/key-template.ts';
import { cidrOrText } from './shared-rules.ts';
import { VppNode } from './vpp-node.gen.ts';

export type { VppNode, Wireguard } from './vpp-node.gen.ts';

export const vppNodeKey = keyTemplate('allocatedIDs/{id}', { id: '[1-9][0-9]*' });

export const vppNodeModel = defineModel<VppNode>({
  message: VppNode,
  keyPrefix: vppNodeKey.prefix(),
  key: ({ id }) => vppNodeKey.build({ id }),
  rules: { ip_addresses: cidrOrText, ip_address: cidrOrText },
});
