import { ipAddressRule } from '../address-rules.ts';
import { defineModel } from '../define.ts';
import { interfaceNameRule } from '../interface-name.ts';
import { unordered } from '../rules.ts';
import { Nat44Global } from './nat.gen.ts';

export type { Nat44Global } from './nat.gen.ts';

export const NAT44_GLOBAL_KEY = 'config/vpp/nat/v2/nat44-global';

export const nat44GlobalModel = defineModel<Nat44Global>({
  message: Nat44Global,
  keyPrefix: NAT44_GLOBAL_KEY,
  key: () => NAT44_GLOBAL_KEY,
  rules: {
    nat_interfaces: unordered(({ name }) => name, { name: interfaceNameRule }),
    address_pool: unordered(({ address }) => address, { address: ipAddressRule }),
    sessions: { table_limits: unordered(({ vrf_id }) => String(vrf_id)) },
  },
});
