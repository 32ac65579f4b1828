import { interfaceCidrRule, ipAddressRule, macRule, orAllocated } from '../address-rules.ts';
import { defineModel } from '../define.ts';
import { interfaceNameRule } from '../interface-name.ts';
import { keyTemplate } from '../key-template.ts';
import { unordered } from '../rules.ts';
import { Interface } from './interface.gen.ts';
import { wireguardKeyRule } from './wireguard-key.ts';

/** UDP port of VXLAN, unless a tunnel names another one. */
export const VXLAN_PORT = 4789;

export type VppInterface = Interface;

export const vppInterfaceKey = keyTemplate('config/vpp/v2/interfaces/{name}');

/**
 * Addresses keep their order: VPP uses the first one as source. The comparison of interfaces ignores
 * addresses, because each address is a derived value.
 */
export const vppInterfaceModel = defineModel<Interface>({
  message: Interface,
  keyPrefix: vppInterfaceKey.prefix(),
  key: ({ name }) => vppInterfaceKey.build({ name }),
  rules: {
    name: interfaceNameRule,
    unnumbered: { interface_with_ip: interfaceNameRule },
    sub: { parent_name: interfaceNameRule },
    phys_address: macRule,
    ip_addresses: orAllocated(interfaceCidrRule),
    rx_modes: unordered(({ queue }) => queue),
    rx_placements: unordered(({ queue }) => queue),
    vxlan: { src_address: orAllocated(ipAddressRule), dst_address: orAllocated(ipAddressRule) },
    wireguard: { src_addr: ipAddressRule, public_key: wireguardKeyRule },
    afpacket: { linux_interface: interfaceNameRule },
    bond: { bonded_interfaces: unordered(({ name }) => name) },
  },
});

/** The table of the addresses of an interface. The one that a tunnel names is that of its outer addresses. */
export function layer3Table({ type, vrf }: Pick<VppInterface, 'type' | 'vrf'>): number {
  return type === 'VXLAN_TUNNEL' ? 0 : vrf;
}
