import type { Dependency } from '#kvscheduler/api/descriptor.ts';
import { linuxInterfaceAddressKey, linuxInterfaceStateKey } from '#models/linux/derived.ts';
import { linuxInterfaceKey } from '#models/linux/interface.ts';

/**
 * Dependencies of a route or a neighbor on its interface. The kernel deletes both when the link goes
 * down, and those of IPv4 also when its last IPv4 address is deleted.
 * @param address of the neighbor or of the destination
 */
export function interfaceDependencies(iface: string, address: string): readonly Dependency[] {
  const isOfFamily = (key: string): boolean =>
    linuxInterfaceAddressKey.parse(key)?.address.includes(':') === false;
  return [
    { label: 'interface-exists', key: linuxInterfaceKey.build({ name: iface }) },
    { label: 'interface-is-up', key: linuxInterfaceStateKey.build({ iface, state: 'UP' }) },
    {
      label: 'interface-has-address',
      anyOf: {
        prefixes: [linuxInterfaceAddressKey.prefix({ iface })],
        ...(!address.includes(':') && { accepts: isOfFamily }),
      },
    },
  ];
}
