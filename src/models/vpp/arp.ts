import { ipAddressRule, macRule } from '../address-rules.ts';
import { defineModel } from '../define.ts';
import { interfaceNameRule } from '../interface-name.ts';
import { keyTemplate } from '../key-template.ts';
import { ARPEntry } from './l3.gen.ts';

export type { ARPEntry as VppArpEntry } from './l3.gen.ts';

export const vppArpKey = keyTemplate('config/vpp/v2/arp/{iface}/{ip}', { ip: '[^/]+' });

export const vppArpModel = defineModel<ARPEntry>({
  message: ARPEntry,
  keyPrefix: vppArpKey.prefix(),
  key: (entry) => vppArpKey.build({ iface: entry.interface, ip: entry.ip_address }),
  rules: { interface: interfaceNameRule, ip_address: ipAddressRule, phys_address: macRule },
});
