import type { Interfaces } from './interfaces.ts';
import type { MessageHandlers } from './message-handlers.ts';
import { retval } from './retval.ts';

/** Segmentation of GSO packets: VPP counts how often it was enabled on an interface. */
export function segmentationMessages(interfaces: Interfaces): MessageHandlers {
  const enabled = new Map<number, number>();
  interfaces.onRemove(({ index }) => {
    enabled.delete(index);
  });
  return {
    requests: {
      feature_gso_enable_disable: ({ sw_if_index, enable_disable }) => {
        if (!interfaces.get(sw_if_index)) return retval.INVALID_SW_IF_INDEX;
        const count = (enabled.get(sw_if_index) ?? 0) + (enable_disable ? 1 : -1);
        if (count > 0) enabled.set(sw_if_index, count);
        else enabled.delete(sw_if_index);
        return 0;
      },
      // VPP knows many features; the others are never enabled here
      feature_is_enabled: ({ arc_name, feature_name, sw_if_index }) => {
        if (!interfaces.get(sw_if_index)) return retval.INVALID_SW_IF_INDEX;
        const isGso = arc_name === 'ip4-output' && feature_name === 'gso-ip4';
        return { is_enabled: isGso && enabled.has(sw_if_index) };
      },
    },
    snapshot: () => ({
      segmenting: [...enabled.keys()].map((index) => interfaces.nameOf(index)).sort(),
    }),
  };
}
