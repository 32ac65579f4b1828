/** The states of values in the scheduler, for the documents of plugins. */

import type { ValueState, ValueStates } from '#documents/value-states.ts';
import type { Scheduler } from '#kvscheduler/scheduler.ts';
import type { ValueStateReader } from '#plugins/controller/api/value-states.ts';

/** From best to worst. */
const states = [
  'CONFIGURED',
  'OBTAINED',
  'DISCOVERED',
  'REMOVED',
  'NONEXISTENT',
  'PENDING',
  'RETRYING',
  'MISSING',
  'UNIMPLEMENTED',
  'INVALID',
  'FAILED',
];
const badness = new Map(states.map((state, position) => [state, position]));
const HEALTHY = ['CONFIGURED', 'OBTAINED', 'DISCOVERED'];
const FAULTS_LIMIT = 10;

export function valueStateReader(scheduler: Pick<Scheduler, 'status'>): ValueStateReader {
  const statesOf = (keys: readonly string[]): ValueState[] =>
    keys.flatMap((base) => {
      const { value, derived_values: derived = [] } = scheduler.status(base);
      return [value, ...derived].map(({ key, state, error, details }) => ({
        key,
        state,
        ...(error !== undefined && { error }),
        ...(details && { details: [...details] }),
      }));
    });
  return {
    statesOf,
    summaryOf(keys): ValueStates {
      const all = statesOf(keys);
      const worst = all.reduce<string | null>(
        (one, { state }) => (one === null || badness.get(state)! > badness.get(one)! ? state : one),
        null,
      );
      const faults = all.filter(({ state }) => !HEALTHY.includes(state)).slice(0, FAULTS_LIMIT);
      return { state: worst, total: all.length, faults };
    },
  };
}
