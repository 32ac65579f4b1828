import { ipAddressRule, macRule } from '../address-rules.ts';
import { defineModel } from '../define.ts';
import { interfaceNameRule } from '../interface-name.ts';
import { keyTemplate } from '../key-template.ts';
import { ARPEntry } from './l3.gen.ts';

export type { ARPEntry as LinuxArpEntry } from './l3.gen.ts';

export const linuxArpKey = keyTemplate('config/linux/l3/v2/arp/{iface}/{ip}', { ip: '[^/]+' });

export const linuxArpModel = defineModel<ARPEntry>({
  message: ARPEntry,
  keyPrefix: linuxArpKey.prefix(),
  key: (entry) => linuxArpKey.build({ iface: entry.interface, ip: entry.ip_address }),
  rules: { interface: interfaceNameRule, ip_address: ipAddressRule, hw_address: macRule },
});
