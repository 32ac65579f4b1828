import { ipAddressRule } from '../address-rules.ts';
import { defineModel } from '../define.ts';
import { interfaceNameRule } from '../interface-name.ts';
import { keyTemplate } from '../key-template.ts';
import { unordered } from '../rules.ts';
import { DNat44 } from './nat.gen.ts';

export type {
  DNat44,
  DNat44IdentityMapping,
  DNat44Protocol,
  DNat44StaticMapping,
  DNat44StaticMappingLocalIP,
} from './nat.gen.ts';

export const dnat44Key = keyTemplate('config/vpp/nat/v2/dnat44/{label}');

export const dnat44Model = defineModel<DNat44>({
  message: DNat44,
  keyPrefix: dnat44Key.prefix(),
  key: ({ label }) => dnat44Key.build({ label }),
  rules: {
    st_mappings: unordered(({ external_ip, external_port }) => `${external_ip}:${external_port}`, {
      external_interface: interfaceNameRule,
      external_ip: ipAddressRule,
      twice_nat_pool_ip: ipAddressRule,
      local_ips: unordered(({ local_ip }) => local_ip, { local_ip: ipAddressRule }),
    }),
    id_mappings: unordered(({ ip_address, port }) => `${ip_address}:${port}`, {
      interface: interfaceNameRule,
      ip_address: ipAddressRule,
    }),
  },
});
