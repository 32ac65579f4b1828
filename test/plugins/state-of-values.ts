import type { ValueState } from '#documents/value-states.ts';
import type { ValueStateReader } from '#plugins/controller/api/value-states.ts';

/** Every value is configured, but for those with a fault. */
export function valueStatesWith(
  faults: Readonly<Record<string, Omit<ValueState, 'key'>>> = {},
): ValueStateReader {
  const stateOf = (key: string): ValueState => ({
    key,
    ...(faults[key] ?? { state: 'CONFIGURED' }),
  });
  return {
    statesOf: (keys) => keys.map(stateOf),
    summaryOf: (keys) => {
      const found = keys.filter((key) => faults[key]).map(stateOf);
      const state = found[0]?.state ?? (keys.length === 0 ? null : 'CONFIGURED');
      return { state, total: keys.length, faults: found };
    },
  };
}
