import { defineInternalDescriptor, emptyValue } from '#kvscheduler/api/define-descriptor.ts';
import type { KvDescriptor } from '#kvscheduler/api/descriptor.ts';
import { linuxHostNameKey } from '#models/linux/derived.ts';
import type { LinuxDescriptorOptions } from './options.ts';

/**
 * Unmanaged links of the agent's namespace: reported for values that depend on them, never created or
 * deleted.
 */
export function hostLinkDescriptor({
  dumps,
  marks,
}: LinuxDescriptorOptions): KvDescriptor<object, undefined> {
  return defineInternalDescriptor(
    'linux-host-link',
    { keys: [linuxHostNameKey] },
    {
      retrieveDependencies: ['linux-interface'],
      async retrieve(_correlate, ctx) {
        const state = await dumps.read(ctx.readBack, undefined);
        return (state?.links ?? [])
          .filter((link) => marks.read(link) === undefined)
          .map(({ name }) => ({
            key: linuxHostNameKey.build({ host: name }),
            value: emptyValue,
            origin: 'from-SB' as const,
          }));
      },
    },
  );
}
