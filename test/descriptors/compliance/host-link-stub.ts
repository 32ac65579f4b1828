import type { KeyedValue, KvDescriptor } from '#kvscheduler/api/descriptor.ts';
import { linuxHostNameKey } from '#models/linux/derived.ts';

/** Stands for links of the kernel where no Linux descriptors are there to tell of them. */
export const hostLinkStub: KvDescriptor<object, undefined> = {
  name: 'host-link-stub',
  typeName: 'google.protobuf.Empty',
  keyPrefixes: [linuxHostNameKey.prefix()],
  create: async () => undefined,
  delete: async () => undefined,
};

export function hostLink(host: string): KeyedValue {
  return { key: linuxHostNameKey.build({ host }), value: {} };
}

/** The same where these links are there all the time, and none has to be wished for. */
export function hostLinksStub(names: readonly string[]): KvDescriptor<object, undefined> {
  return {
    ...hostLinkStub,
    retrieve: async () => names.map((name) => ({ ...hostLink(name), origin: 'from-SB' as const })),
  };
}
