import { ipAddressRule } from '../address-rules.ts';
import { defineModel } from '../define.ts';
import { keyTemplate } from '../key-template.ts';
import { SocketNodeAddress } from './socket.gen.ts';

export type { SocketNodeAddress } from './socket.gen.ts';

export const socketNodeAddressKey = keyTemplate('config/linux/socket/v2/node-address/{address}');

export const socketNodeAddressModel = defineModel<SocketNodeAddress>({
  message: SocketNodeAddress,
  keyPrefix: socketNodeAddressKey.prefix(),
  key: ({ address }) => socketNodeAddressKey.build({ address }),
  rules: { address: ipAddressRule },
});
