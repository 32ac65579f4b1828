import { ipAddressRule } from '../address-rules.ts';
import { defineModel } from '../define.ts';
import { keyTemplate } from '../key-template.ts';
import { unordered } from '../rules.ts';
import { SocketService, type SocketServiceFrontend } from './socket.gen.ts';

export type {
  SocketService,
  SocketServiceBackend,
  SocketServiceFrontend,
  SocketServiceMapping,
} from './socket.gen.ts';

export const socketServiceKey = keyTemplate('config/linux/socket/v2/service/{name}');

export const socketServiceModel = defineModel<SocketService>({
  message: SocketService,
  keyPrefix: socketServiceKey.prefix(),
  key: ({ name }) => socketServiceKey.build({ name }),
  rules: {
    mappings: unordered(({ frontends: [first] }) => (first ? endText(first) : ''), {
      frontends: unordered(endText, { address: ipAddressRule }),
      backends: unordered(({ address, port }) => `${address} ${port}`, { address: ipAddressRule }),
      host_source: ipAddressRule,
    }),
  },
});

function endText({ address, port, protocol, scope }: SocketServiceFrontend): string {
  return `${address} ${port} ${protocol} ${scope}`;
}
