/** Keys of values that are derived from Linux configuration or come from the kernel. */
import { keyTemplate } from '../key-template.ts';

/** `address` with prefix length. */
export const linuxInterfaceAddressKey = keyTemplate(
  'linux/interface/{iface}/address/{source}/{address}',
  { source: 'static|from_dhcp|alloc_ref' },
);

/** Admin state; by logical name. */
export const linuxInterfaceStateKey = keyTemplate('linux/interface/state/{iface}/{state}', {
  state: 'UP|DOWN',
});

/** An unmanaged link in the agent's own namespace; by its kernel name. */
export const linuxHostNameKey = keyTemplate('linux/interface/host-name/{host}', { host: '[^/]+' });

/** The same for a link that is a configured interface. */
export const linuxHostNameOfKey = keyTemplate('linux/interface/host-name/{host}/of/{iface}', {
  host: '[^/]+',
});

/** A destination that is reachable without a gateway. */
export const linkLocalRouteKey = keyTemplate(
  'linux/link-local-route/{iface}/dest-address/{destination}',
);
