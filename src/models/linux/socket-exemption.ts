import { defineModel } from '../define.ts';
import { keyTemplate } from '../key-template.ts';
import { SocketExemption } from './socket.gen.ts';

export type { SocketExemption } from './socket.gen.ts';

export const socketExemptionKey = keyTemplate('config/linux/socket/v2/exemption/{name}');

export const socketExemptionModel = defineModel<SocketExemption>({
  message: SocketExemption,
  keyPrefix: socketExemptionKey.prefix(),
  key: ({ name }) => socketExemptionKey.build({ name }),
});
