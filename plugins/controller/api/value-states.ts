/** How documents read the states of the values that carry an object. */
import type { ValueState, ValueStates } from '#documents/value-states.ts';

export interface ValueStateReader {
  summaryOf(keys: readonly string[]): ValueStates;
  /** Each value, followed by those derived from it. */
  statesOf(keys: readonly string[]): ValueState[];
}
