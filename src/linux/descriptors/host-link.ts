import type { KvDescriptor } from '#kvscheduler/api/descriptor.ts';
import { linuxHostNameKey } from '#models/linux/derived.ts';
import { EMPTY_TYPE, empty } from './empty.ts';
import type { LinuxDescriptorOptions } from './interface/interface.ts';

/**
 * Links of the agent's namespace that somebody else made: told as such, for values that need one to
 * be there. Never created or deleted.
 */
export function hostLinkDescriptor({
  dumps,
  marks,
}: LinuxDescriptorOptions): KvDescriptor<object, undefined> {
  return {
    name: 'linux-host-link',
    typeName: EMPTY_TYPE,
    keyPrefixes: [linuxHostNameKey.prefix()],
    ownsKey: (key) => linuxHostNameKey.parse(key) !== undefined,
    retrieveDependencies: ['linux-interface'],
    async retrieve() {
      const state = await dumps.read(undefined, 'linux-host-link');
      return (state?.links ?? [])
        .filter((link) => marks.read(link) === undefined)
        .map(({ name }) => ({
          key: linuxHostNameKey.build({ host: name }),
          value: empty,
          origin: 'from-SB' as const,
        }));
    },
  };
}
