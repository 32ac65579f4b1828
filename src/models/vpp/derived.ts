/** Keys of values that are derived from VPP configuration or come from VPP itself. */

import { ALLOC_PREFIX } from '../address-rules.ts';
import { keyTemplate } from '../key-template.ts';

/** Where an interface's address comes from, as its key says it. */
export type AddressSource = 'static' | 'from_dhcp' | 'alloc_ref';

const SOURCES = 'static|from_dhcp|alloc_ref';
const DIGITS = '\\d+';

/** `address` with mask length. */
export const interfaceAddressKey = keyTemplate('vpp/interface/{iface}/address/{source}/{address}', {
  source: SOURCES,
});

/** The source of an address out of the configuration. */
export function addressSource(address: string): AddressSource {
  return address.startsWith(ALLOC_PREFIX) ? 'alloc_ref' : 'static';
}

/** Stands while an interface is configured to be up. */
export const interfaceUpKey = keyTemplate('vpp/interface/{iface}/admin-state/UP');

export const interfaceHasAddressKey = keyTemplate('vpp/interface/{iface}/has-IP-address');

export const interfaceVrfKey = keyTemplate('vpp/interface/{iface}/vrf/{vrf}/ip-version/{version}', {
  vrf: DIGITS,
  version: 'v4|v6|both',
});

/** An unnumbered interface is in the tables of the one it borrows its address from. */
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
  // names of bridge domains are the agent's own, names of interfaces are VPP's too
  bd: '.+?',
});

/** Stands while NAT44 is on and tells sessions apart by both ends. */
export const NAT44_ENDPOINT_DEPENDENT_KEY = 'vpp/nat44/endpoint-dependent';
/** Of the interfaces and addresses that are listed in the global value. */
export const nat44FeatureKey = keyTemplate('vpp/nat44/interface/{iface}/feature/{feature}', {
  feature: 'in|out',
});
export const nat44AddressKey = keyTemplate('vpp/nat44/address/{address}/twice-nat/{twice}', {
  twice: 'on|off',
});
/** `range` is one address or the first and the last of them: `10.1.1.1-10.1.1.9`. */
export const twiceNatPoolKey = keyTemplate('vpp/nat44/twiceNAT-pool/vrf/{vrf}/addresses/{range}', {
  vrf: DIGITS,
});

export const aclBindingKey = keyTemplate('vpp/acl/{acl}/interface/{direction}/{iface}', {
  direction: 'ingress|egress',
});
