import type { FeatureArcs } from './feature-arcs.ts';
import type { Interfaces } from './interfaces.ts';
import type { MessageHandlers } from './message-handlers.ts';
import { retval } from './retval.ts';

/** Segmentation of GSO packets. */
export function segmentationMessages(interfaces: Interfaces, arcs: FeatureArcs): MessageHandlers {
  return {
    requests: {
      feature_gso_enable_disable: ({ sw_if_index, enable_disable }) => {
        if (!interfaces.get(sw_if_index)) return retval.INVALID_SW_IF_INDEX;
        arcs.set(sw_if_index, 'ip4-output', 'gso-ip4', enable_disable);
        return 0;
      },
    },
  };
}
