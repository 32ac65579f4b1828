import { defineInternalDescriptor } from '#kvscheduler/api/define-descriptor.ts';
import type { KvDescriptor } from '#kvscheduler/api/descriptor.ts';
import { interfaceAddressKey, interfaceHasAddressKey } from '#models/vpp/derived.ts';

/**
 * A property that exists while the interface has at least one configured address. It sends no
 * request to VPP.
 */
export function interfaceHasAddressDescriptor(): KvDescriptor<object, undefined> {
  return defineInternalDescriptor(
    'vpp-interface-has-address',
    { keys: [interfaceHasAddressKey] },
    {
      dependencies: (key) => {
        const iface = interfaceHasAddressKey.parse(key)?.iface ?? '';
        const prefixes = [interfaceAddressKey.prefix({ iface })];
        return [{ label: 'interface-has-IP-address', anyOf: { prefixes } }];
      },
      create: async () => undefined,
      delete: async () => undefined,
    },
  );
}
