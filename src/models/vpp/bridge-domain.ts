import { ipAddressRule, macRule } from '../address-rules.ts';
import { defineModel } from '../define.ts';
import { interfaceNameRule } from '../interface-name.ts';
import { keyTemplate } from '../key-template.ts';
import { unordered } from '../rules.ts';
import { BridgeDomain } from './l2.gen.ts';

export type { BridgeDomain, BridgeDomainInterface } from './l2.gen.ts';

export const bridgeDomainKey = keyTemplate('config/vpp/l2/v2/bridge-domain/{name}');

export const bridgeDomainModel = defineModel<BridgeDomain>({
  message: BridgeDomain,
  keyPrefix: bridgeDomainKey.prefix(),
  key: ({ name }) => bridgeDomainKey.build({ name }),
  rules: {
    interfaces: unordered(({ name }) => name, { name: interfaceNameRule }),
    arp_termination_table: unordered(({ ip_address }) => ip_address, {
      ip_address: ipAddressRule,
      phys_address: macRule,
    }),
  },
});
