import { defineModel } from '../define.ts';
import { unordered } from '../rules.ts';
import { ip } from '../texts.ts';
import { Nat44Global } from './nat.gen.ts';

export type { Nat44Global } from './nat.gen.ts';

export const nat44GlobalKey = 'config/vpp/nat/v2/nat44-global';

export const nat44GlobalModel = defineModel<Nat44Global>({
  message: Nat44Global,
  keyPrefix: nat44GlobalKey,
  key: () => nat44GlobalKey,
  rules: {
    nat_interfaces: unordered(({ name }) => name),
    address_pool: unordered(({ address }) => address, { address: ip }),
  },
});
