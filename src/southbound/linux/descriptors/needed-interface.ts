import type { Dependency } from '#kvscheduler/api.ts';
import { linuxInterfaceAddressKey, linuxInterfaceStateKey } from '#models/linux/derived.ts';
import { linuxInterfaceKey } from '#models/linux/interface.ts';

/** What a route or a neighbour needs of its interface. The kernel drops both when a link goes down. */
export function neededOf(iface: string): readonly Dependency[] {
  return [
    { label: 'interface-exists', key: linuxInterfaceKey.build({ name: iface }) },
    { label: 'interface-is-up', key: linuxInterfaceStateKey.build({ iface, state: 'UP' }) },
    {
      label: 'interface-has-address',
      anyOf: { prefixes: [linuxInterfaceAddressKey.prefix({ iface })] },
    },
  ];
}
