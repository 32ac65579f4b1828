import type { KeyedValue, KvDescriptor } from '#kvscheduler/api/descriptor.ts';
import { linuxHostNameKey } from '#models/linux/derived.ts';

/** Links of the kernel in suites without Linux descriptors: all that are desired exist. */
export const hostLinkStub: KvDescriptor<object, undefined> = {
  name: 'host-link-stub',
  typeName: 'google.protobuf.Empty',
  keyPrefixes: [linuxHostNameKey.prefix()],
  create: async () => undefined,
  delete: async () => undefined,
  retrieve: async (correlate) => correlate.map((one) => ({ ...one, origin: 'from-NB' })),
};

export function hostLink(host: string): KeyedValue {
  return { key: linuxHostNameKey.build({ host }), value: {} };
}

/** The same for links that always exist without being desired. */
export function hostLinksStub(names: readonly string[]): KvDescriptor<object, undefined> {
  return {
    ...hostLinkStub,
    retrieve: async () => names.map((name) => ({ ...hostLink(name), origin: 'from-SB' as const })),
  };
}
