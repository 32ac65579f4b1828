import { Sse2QosPolicerType, Sse2QosRateType } from '#vpp/binapi/enums.gen.ts';
import type { PolicerAddDel, PolicerInput } from '#vpp/binapi/messages.gen.ts';
import type { FeatureArcs } from './feature-arcs.ts';
import type { Interfaces } from './interfaces.ts';
import type { MessageHandlers } from './message-handlers.ts';
import { NONE, retval } from './retval.ts';

/**
 * Policers with one rate and two colors. An interface has an index for each direction, which outlives the
 * policer; VPP counts how often it is applied.
 */
export function policerMessages(interfaces: Interfaces, arcs: FeatureArcs): MessageHandlers {
  const policers: (PolicerAddDel | undefined)[] = [];
  /** The index that was freed last is used first. */
  const free: number[] = [];
  const indexOf = (name: string): number => policers.findIndex((one) => one?.name === name);

  const isRefused = ({ cir, eir, cb, eb, type, rate_type }: PolicerAddDel): boolean =>
    type !== Sse2QosPolicerType.SSE2_QOS_POLICER_TYPE_API_1R2C ||
    rate_type !== Sse2QosRateType.SSE2_QOS_RATE_API_KBPS ||
    eir !== 0 ||
    eb !== 0n ||
    // VPP accepts one that drops everything
    (cir === 0) !== (cb === 0n);
  const applyTo = (arc: string, node: string) => (request: PolicerInput) => {
    const { name, sw_if_index, apply } = request;
    if (!interfaces.get(sw_if_index)) return retval.INVALID_SW_IF_INDEX;
    if (indexOf(name) < 0) return retval.NO_SUCH_ENTRY;
    arcs.set(sw_if_index, arc, node, apply);
    return 0;
  };

  return {
    requests: {
      policer_add_del: (request) => {
        const index = indexOf(request.name);
        const none = { policer_index: NONE };
        if (!request.is_add) {
          if (index < 0) return { retval: retval.NO_SUCH_ENTRY, ...none };
          policers[index] = undefined;
          free.push(index);
          return none;
        }
        if (index >= 0) return { retval: retval.VALUE_EXIST, ...none };
        if (isRefused(request)) return { retval: retval.INVALID_VALUE, ...none };
        const added = free.pop() ?? policers.length;
        policers[added] = request;
        return { policer_index: added };
      },
      policer_input: applyTo('ip4-unicast', 'policer-input'),
      policer_output: applyTo('ip4-output', 'policer-output'),
    },
    dumps: {
      policer_dump_v2: ({ policer_index }) =>
        policers.flatMap((one, index) => {
          if (one === undefined || (policer_index !== NONE && policer_index !== index)) return [];
          const { is_add: _, ...config } = one;
          return [
            {
              ...config,
              single_rate: true,
              scale: 0,
              cir_tokens_per_period: 0,
              pir_tokens_per_period: 0,
              current_limit: Number(one.cb),
              current_bucket: Number(one.cb),
              extended_limit: 0,
              extended_bucket: 0,
              last_update_time: 0n,
            },
          ];
        }),
    },
    snapshot: () => ({
      policers: policers
        .flatMap((one) => (one ? [`${one.name} ${one.cir} kbps, burst ${one.cb}`] : []))
        .sort(),
    }),
  };
}
