import { ipAddressRule } from '../address-rules.ts';
import { defineModel } from '../define.ts';
import { interfaceNameRule } from '../interface-name.ts';
import { unordered } from '../rules.ts';
import { ProxyARP } from './l3.gen.ts';

export type { ProxyARP, ProxyARPRange } from './l3.gen.ts';

export const PROXY_ARP_KEY = 'config/vpp/v2/proxyarp-global';

export const proxyArpModel = defineModel<ProxyARP>({
  message: ProxyARP,
  keyPrefix: PROXY_ARP_KEY,
  key: () => PROXY_ARP_KEY,
  rules: {
    interfaces: unordered(({ name }) => name, { name: interfaceNameRule }),
    ranges: unordered((range) => `${range.first_ip_addr} ${range.last_ip_addr} ${range.vrf_id}`, {
      first_ip_addr: ipAddressRule,
      last_ip_addr: ipAddressRule,
    }),
  },
});
