import { ipAddressRule } from '../address-rules.ts';
import { defineModel } from '../define.ts';
import { interfaceNameRule } from '../interface-name.ts';
import { CnatSourceNat } from './nat.gen.ts';

export type { CnatSourceNat } from './nat.gen.ts';

const CNAT_SOURCE_NAT_KEY = 'config/vpp/nat/v2/cnat-source-nat';

export const cnatSourceNatModel = defineModel<CnatSourceNat>({
  message: CnatSourceNat,
  keyPrefix: CNAT_SOURCE_NAT_KEY,
  key: () => CNAT_SOURCE_NAT_KEY,
  rules: { interface: interfaceNameRule, address: ipAddressRule },
});
