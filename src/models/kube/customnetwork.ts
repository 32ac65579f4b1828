import { defineModel } from '../define.ts';
import { CustomNetwork } from './customnetwork.gen.ts';
import { clusterKey } from './keys.ts';

export type { CustomNetwork } from './customnetwork.gen.ts';

export const customNetworkKey = clusterKey('customnetwork');

export const customNetworkModel = defineModel<CustomNetwork>({
  message: CustomNetwork,
  keyPrefix: customNetworkKey.prefix(),
  key: ({ name }) => customNetworkKey.build({ name }),
});
