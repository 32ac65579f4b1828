import { ipAddressRule } from '../address-rules.ts';
import { defineModel } from '../define.ts';
import { keyTemplate } from '../key-template.ts';
import { unordered } from '../rules.ts';
import { CnatTranslation } from './nat.gen.ts';

export type { CnatTranslation } from './nat.gen.ts';

const cnatTranslationKey = keyTemplate(
  'config/vpp/nat/v2/cnat-translation/{protocol}/{address}/{port}',
);

export const cnatTranslationModel = defineModel<CnatTranslation>({
  message: CnatTranslation,
  keyPrefix: cnatTranslationKey.prefix(),
  key: ({ protocol, external_ip, external_port }) =>
    cnatTranslationKey.build({ protocol, address: external_ip, port: external_port }),
  rules: {
    external_ip: ipAddressRule,
    source_ip: ipAddressRule,
    backends: unordered(({ ip_address, port }) => `${ip_address} ${port}`, {
      ip_address: ipAddressRule,
    }),
  },
});
