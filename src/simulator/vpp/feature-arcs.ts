import type { Interfaces } from './interfaces.ts';
import type { MessageHandlers } from './message-handlers.ts';
import { retval } from './retval.ts';

/** Those of VPP that the simulation has; it refuses to enable others. */
const nodes: Readonly<Record<string, readonly string[]>> = {
  'ip4-unicast': [
    'nat-pre-in2out',
    'nat-pre-out2in',
    'nat44-ed-classify',
    'nat44-in2out-worker-handoff',
    'ip4-sv-reassembly-feature',
    'nat44-handoff-classify',
    'policer-input',
  ],
  'ip6-unicast': ['cnat-snat-ip6-return'],
  'ip4-output': [
    'gso-ip4',
    'nat-pre-in2out-output',
    'nat44-in2out-output-worker-handoff',
    'ip4-sv-reassembly-output-feature',
    'policer-output',
  ],
};

/** Nodes that packets of an interface pass. VPP counts how often each was enabled. */
export class FeatureArcs {
  readonly #interfaces: Interfaces;
  /** By interface, then by arc and node. */
  readonly #counts = new Map<number, Map<string, number>>();

  constructor(interfaces: Interfaces) {
    this.#interfaces = interfaces;
    interfaces.onRemove(({ index }) => {
      this.#counts.delete(index);
    });
  }

  set(index: number, arc: string, node: string, isOn: boolean): void {
    const counts = this.#counts.get(index) ?? new Map<string, number>();
    this.#counts.set(index, counts);
    const key = keyOf(arc, node);
    const count = (counts.get(key) ?? 0) + (isOn ? 1 : -1);
    if (count > 0) counts.set(key, count);
    else counts.delete(key);
  }

  isEnabled(index: number, arc: string, node: string): boolean {
    return this.#counts.get(index)?.has(keyOf(arc, node)) ?? false;
  }

  handlers(): MessageHandlers {
    return {
      requests: {
        feature_enable_disable: ({ sw_if_index, arc_name, feature_name, enable }) => {
          if (!this.#interfaces.get(sw_if_index)) return retval.INVALID_SW_IF_INDEX;
          if (!nodes[arc_name]?.includes(feature_name)) return retval.INVALID_VALUE;
          this.set(sw_if_index, arc_name, feature_name, enable);
          return 0;
        },
        // VPP knows many features; the others are never enabled here
        feature_is_enabled: ({ arc_name, feature_name, sw_if_index }) => {
          if (!this.#interfaces.get(sw_if_index)) return retval.INVALID_SW_IF_INDEX;
          return { is_enabled: this.isEnabled(sw_if_index, arc_name, feature_name) };
        },
      },
      snapshot: () => ({
        features: [...this.#counts]
          .flatMap(([index, counts]) =>
            [...counts].map(
              ([key, count]) =>
                `${this.#interfaces.nameOf(index)} ${key}${count > 1 ? ` ${count} times` : ''}`,
            ),
          )
          .sort(),
      }),
    };
  }
}

function keyOf(arc: string, node: string): string {
  return `${arc}/${node}`;
}
