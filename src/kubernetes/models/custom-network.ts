import { defineModel } from '#models/define.ts';
import { CustomNetwork } from './custom-network.gen.ts';
import { clusterKey } from './keys.ts';

export type { CustomNetwork } from './custom-network.gen.ts';

export const customNetworkKey = clusterKey('customnetwork');

export const customNetworkModel = defineModel<CustomNetwork>({
  message: CustomNetwork,
  keyPrefix: customNetworkKey.prefix(),
  key: ({ name }) => customNetworkKey.build({ name }),
});
