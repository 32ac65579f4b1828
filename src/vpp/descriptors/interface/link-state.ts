import { defineInternalDescriptor, emptyValue } from '#kvscheduler/api/define-descriptor.ts';
import type { KvDescriptor } from '#kvscheduler/api/descriptor.ts';
import { linkStateKey } from '#models/vpp/derived.ts';
import { IfStatusFlags } from '../../binapi/enums.gen.ts';
import { NONE } from '../limits.ts';
import { interfaceNames } from '../names-by-index.ts';
import type { VppDescriptorOptions } from '../options.ts';

/** `UP` or `DOWN` from the flags of an interface. */
export function linkState(flags: number): 'UP' | 'DOWN' {
  return (flags & IfStatusFlags.IF_STATUS_API_FLAG_LINK_UP) === 0 ? 'DOWN' : 'UP';
}

/** Whether the link of an interface is up: reported, never created. */
export function linkStateDescriptor({
  client,
}: VppDescriptorOptions): KvDescriptor<object, undefined> {
  return defineInternalDescriptor(
    'vpp-interface-link-state',
    { keys: [linkStateKey] },
    {
      retrieveDependencies: ['vpp-interface'],
      async retrieve(_correlate, ctx) {
        const names = interfaceNames(ctx);
        const found = await client.dump('sw_interface_dump', {
          sw_if_index: NONE,
          name_filter_valid: false,
          name_filter: '',
        });
        return found.flatMap(({ sw_if_index, flags }) => {
          const iface = names.get(sw_if_index);
          if (iface === undefined) return [];
          const key = linkStateKey.build({ iface, state: linkState(flags) });
          return [{ key, value: emptyValue, origin: 'from-SB' as const }];
        });
      },
    },
  );
}
