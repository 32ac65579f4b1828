/** Keys of values that are derived from VPP configuration or notified by VPP. */

import { ALLOC_PREFIX } from '../address-rules.ts';
import { keyTemplate } from '../key-template.ts';

/** Source of an interface's address, as in its key. */
export type AddressSource = 'static' | 'from_dhcp' | 'alloc_ref';

const SOURCES = 'static|from_dhcp|alloc_ref';
const DIGITS = '\\d+';

/** `address` with prefix length. */
export const interfaceAddressKey = keyTemplate('vpp/interface/{iface}/address/{source}/{address}', {
  source: SOURCES,
});

/** The source of a configured address. */
export function addressSource(address: string): AddressSource {
  return address.startsWith(ALLOC_PREFIX) ? 'alloc_ref' : 'static';
}

/** Exists while an interface is configured to be up. */
export const interfaceUpKey = keyTemplate('vpp/interface/{iface}/admin-state/UP');
/** The same for a VLAN, which cannot be the parent of another one. */
export const vlanUpKey = keyTemplate('vpp/interface/{iface}/vlan-admin-state/UP');

export const interfaceHasAddressKey = keyTemplate('vpp/interface/{iface}/has-IP-address');

/** Exists while an interface has addresses of a network; `network` is its first address. */
export const interfaceNetworkKey = keyTemplate('vpp/interface/{iface}/network/{vrf}/{network}', {
  vrf: DIGITS,
});

export const interfaceVrfKey = keyTemplate('vpp/interface/{iface}/vrf/{vrf}/ip-version/{version}', {
  vrf: DIGITS,
  version: 'v4|v6|both',
});

/** An unnumbered interface is in the tables of the interface whose address it borrows. */
export const inheritedVrfKey = keyTemplate('vpp/interface/{iface}/vrf/from-interface/{lender}');

export const unnumberedKey = keyTemplate('vpp/interface/unnumbered/{iface}');
export const dhcpClientKey = keyTemplate('vpp/interface/dhcp-client/{iface}');
export const linkStateKey = keyTemplate('vpp/interface/{iface}/link-state/{state}', {
  state: 'UP|DOWN',
});
export const rxModesKey = keyTemplate('vpp/interface/{iface}/rx-modes');
export const rxPlacementKey = keyTemplate('vpp/interface/{iface}/rx-placement/queue/{queue}', {
  queue: DIGITS,
});
export const proxyArpInterfaceKey = keyTemplate('vpp/proxyarp/interface/{iface}');

export const bridgedInterfaceKey = keyTemplate('vpp/bd/{bd}/interface/{iface}', {
  // non-greedy: the agent chooses names of bridge domains, but VPP may choose names of interfaces
  bd: '.+?',
});

/** Exists while NAT44 is enabled in endpoint-dependent mode. */
export const NAT44_ENDPOINT_DEPENDENT_KEY = 'vpp/nat44/endpoint-dependent';
/** Interfaces and addresses that are listed in the global value. */
export const nat44FeatureKey = keyTemplate('vpp/nat44/interface/{iface}/feature/{feature}', {
  feature: 'in|out',
});
export const nat44AddressKey = keyTemplate('vpp/nat44/address/{address}/twice-nat/{twice}', {
  twice: 'on|off',
});
/** Of the session table, by the VRF of the interface at which packets enter. */
export const nat44TableLimitKey = keyTemplate('vpp/nat44/session-limit/vrf/{vrf}', { vrf: DIGITS });
/** Exists while a pool for sources has the address. */
export const natPoolAddressKey = keyTemplate('vpp/nat44/pool-address/{address}');
/** `range` is one address, or the first and last address: `10.1.1.1-10.1.1.9`. */
export const twiceNatPoolKey = keyTemplate('vpp/nat44/twiceNAT-pool/vrf/{vrf}/addresses/{range}', {
  vrf: DIGITS,
});

export const aclBindingKey = keyTemplate('vpp/acl/{acl}/interface/{direction}/{iface}', {
  direction: 'ingress|egress',
});
