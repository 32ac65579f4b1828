import { interfaceCidrRule, macRule, orAllocated } from '../address-rules.ts';
import { defineModel } from '../define.ts';
import { interfaceNameRule } from '../interface-name.ts';
import { keyTemplate } from '../key-template.ts';
import { Interface } from './interface.gen.ts';

export type LinuxInterface = Interface;
export type { VethLink as LinuxVethLink } from './interface.gen.ts';
export type { NetNamespace } from './namespace.gen.ts';

export const linuxInterfaceKey = keyTemplate('config/linux/interfaces/v2/interface/{name}');

export const linuxInterfaceModel = defineModel<Interface>({
  message: Interface,
  keyPrefix: linuxInterfaceKey.prefix(),
  key: ({ name }) => linuxInterfaceKey.build({ name }),
  rules: {
    name: interfaceNameRule,
    phys_address: macRule,
    ip_addresses: orAllocated(interfaceCidrRule),
    tap: { vpp_tap_if_name: interfaceNameRule },
  },
});
