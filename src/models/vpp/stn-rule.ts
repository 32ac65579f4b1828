import { ipAddressRule } from '../address-rules.ts';
import { defineModel } from '../define.ts';
import { interfaceNameRule } from '../interface-name.ts';
import { keyTemplate } from '../key-template.ts';
import { Rule } from './stn.gen.ts';

export type { Rule as StnRule } from './stn.gen.ts';

export const stnRuleKey = keyTemplate('config/vpp/stn/v2/rule/{iface}/ip/{ip}', { ip: '[^/]+' });

export const stnRuleModel = defineModel<Rule>({
  message: Rule,
  keyPrefix: stnRuleKey.prefix(),
  key: (rule) => stnRuleKey.build({ iface: rule.interface, ip: rule.ip_address }),
  rules: { interface: interfaceNameRule, ip_address: ipAddressRule },
});
