import { defineModel } from '../define.ts';
import { interfaceNameRule } from '../interface-name.ts';
import { keyTemplate } from '../key-template.ts';
import { Nat44Interface } from './nat.gen.ts';

export type { Nat44Interface } from './nat.gen.ts';

export const nat44InterfaceKey = keyTemplate('config/vpp/nat/v2/nat44-interface/{name}');

export const nat44InterfaceModel = defineModel<Nat44Interface>({
  message: Nat44Interface,
  keyPrefix: nat44InterfaceKey.prefix(),
  key: ({ name }) => nat44InterfaceKey.build({ name }),
  rules: { name: interfaceNameRule },
});
