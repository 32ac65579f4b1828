import type { KvDescriptor } from '#kvscheduler/api/descriptor.ts';
import { interfaceAddressKey, interfaceHasAddressKey } from '#models/vpp/derived.ts';
import { EMPTY_TYPE } from '../empty.ts';

/**
 * A property: stands while the interface has at least one address of its configuration. It asks
 * nothing of VPP.
 */
export function interfaceHasAddressDescriptor(): KvDescriptor<object, undefined> {
  return {
    name: 'vpp-interface-has-address',
    typeName: EMPTY_TYPE,
    keyPrefixes: ['vpp/interface/'],
    ownsKey: (key) => interfaceHasAddressKey.parse(key) !== undefined,
    dependencies: (key) => {
      const iface = interfaceHasAddressKey.parse(key)?.iface ?? '';
      const prefixes = [interfaceAddressKey.prefix({ iface })];
      return [{ label: 'interface-has-IP-address', anyOf: { prefixes } }];
    },
    create: async () => undefined,
    delete: async () => undefined,
  };
}
