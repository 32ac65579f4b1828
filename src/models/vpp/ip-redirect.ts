import { ipAddressRule } from '../address-rules.ts';
import { defineModel } from '../define.ts';
import { interfaceNameRule } from '../interface-name.ts';
import { keyTemplate } from '../key-template.ts';
import { IPRedirect } from './punt.gen.ts';

export type { IPRedirect } from './punt.gen.ts';

export const ipRedirectKey = keyTemplate('config/vpp/v2/ipredirect/l3/{l3}/tx/{tx}', {
  l3: '[A-Z0-9_]+',
});

export const ipRedirectModel = defineModel<IPRedirect>({
  message: IPRedirect,
  keyPrefix: 'config/vpp/v2/ipredirect/',
  key: (value) => ipRedirectKey.build({ l3: value.l3_protocol, tx: value.tx_interface }),
  rules: {
    rx_interface: interfaceNameRule,
    tx_interface: interfaceNameRule,
    next_hop: ipAddressRule,
  },
});
