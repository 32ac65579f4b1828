import { ipAddressRule, networkCidrRule, orAllocated } from '../address-rules.ts';
import { defineModel } from '../define.ts';
import { interfaceNameRule } from '../interface-name.ts';
import { keyTemplate } from '../key-template.ts';
import { Route } from './l3.gen.ts';

export type { Route as LinuxRoute, RouteScope as LinuxRouteScope } from './l3.gen.ts';

/** `destination` with prefix length. */
export const linuxRouteKey = keyTemplate('config/linux/l3/v2/route/{destination}/{iface}', {
  destination: '[0-9a-f.:]+/\\d+|alloc:.+',
});

export const linuxRouteModel = defineModel<Route>({
  message: Route,
  keyPrefix: linuxRouteKey.prefix(),
  key: ({ dst_network, outgoing_interface }) =>
    linuxRouteKey.build({ destination: dst_network, iface: outgoing_interface }),
  rules: {
    outgoing_interface: interfaceNameRule,
    dst_network: orAllocated(networkCidrRule),
    gw_addr: orAllocated(ipAddressRule),
  },
});
