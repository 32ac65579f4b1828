/** Published and notified state of interfaces: statistics and DHCP leases. */

import { interfaceCidrRule, macRule } from '../address-rules.ts';
import { defineModel } from '../define.ts';
import { keyTemplate } from '../key-template.ts';
import { DHCPLease, InterfaceState } from './interface-state.gen.ts';

export type { DHCPLease, InterfaceState } from './interface-state.gen.ts';

export const interfaceStateKey = keyTemplate('vpp/status/v2/interface/{name}');

export const interfaceStateModel = defineModel<InterfaceState>({
  message: InterfaceState,
  keyPrefix: interfaceStateKey.prefix(),
  key: ({ name }) => interfaceStateKey.build({ name }),
  rules: { phys_address: macRule },
});

export const dhcpLeaseKey = keyTemplate('vpp/interface/dhcp-lease/{iface}');

export const dhcpLeaseModel = defineModel<DHCPLease>({
  message: DHCPLease,
  keyPrefix: dhcpLeaseKey.prefix(),
  key: ({ interface_name }) => dhcpLeaseKey.build({ iface: interface_name }),
  rules: {
    host_phys_address: macRule,
    host_ip_address: interfaceCidrRule,
    router_ip_address: interfaceCidrRule,
  },
});
