import { macRule, networkOrHostRule } from '../address-rules.ts';
import { defineModel } from '../define.ts';
import { interfaceNameRule } from '../interface-name.ts';
import { keyTemplate } from '../key-template.ts';
import { unorderedTexts } from '../rules.ts';
import { ACL } from './acl.gen.ts';

export type { ACL as Acl, ACLRule as AclRule, ACLRuleIpRule as AclIpRule } from './acl.gen.ts';

export const aclKey = keyTemplate('config/vpp/acls/v2/acl/{name}');

/** Rules keep their order: the first match applies. */
export const aclModel = defineModel<ACL>({
  message: ACL,
  keyPrefix: aclKey.prefix(),
  key: ({ name }) => aclKey.build({ name }),
  rules: {
    rules: {
      ip_rule: {
        ip: { destination_network: networkOrHostRule, source_network: networkOrHostRule },
      },
      macip_rule: { source_mac_address: macRule, source_mac_address_mask: macRule },
    },
    interfaces: {
      egress: unorderedTexts(interfaceNameRule),
      ingress: unorderedTexts(interfaceNameRule),
    },
  },
});
