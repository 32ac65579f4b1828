import { macRule } from '../address-rules.ts';
import { defineModel } from '../define.ts';
import { interfaceNameRule } from '../interface-name.ts';
import { keyTemplate } from '../key-template.ts';
import { FIBEntry } from './l2.gen.ts';

export type { FIBEntry } from './l2.gen.ts';

export const fibEntryKey = keyTemplate('config/vpp/l2/v2/fib/{bd}/mac/{mac}', {
  mac: '[0-9a-f:]{17}',
});

export const fibEntryModel = defineModel<FIBEntry>({
  message: FIBEntry,
  keyPrefix: fibEntryKey.prefix(),
  key: (value) => fibEntryKey.build({ bd: value.bridge_domain, mac: value.phys_address }),
  rules: { phys_address: macRule, outgoing_interface: interfaceNameRule },
});
