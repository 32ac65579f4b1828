import { ipAddressRule } from '../address-rules.ts';
import { defineModel } from '../define.ts';
import { keyTemplate } from '../key-template.ts';
import { ServiceLink } from './socket.gen.ts';

export type { ServiceLink } from './socket.gen.ts';

export const serviceLinkKey = keyTemplate('config/linux/socket/v2/link/{host_if_name}', {
  host_if_name: '[^/]+',
});

export const serviceLinkModel = defineModel<ServiceLink>({
  message: ServiceLink,
  keyPrefix: serviceLinkKey.prefix(),
  key: ({ host_if_name }) => serviceLinkKey.build({ host_if_name }),
  rules: { gw_addr: ipAddressRule },
});
