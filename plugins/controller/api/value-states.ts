/** States of the values that carry one object, for the documents about it. */
import { type Static, Type } from 'typebox';

export const valueStateSchema = Type.Object({
  key: Type.String(),
  state: Type.String({ description: 'As in GET /scheduler/status.' }),
  error: Type.Optional(Type.String()),
  details: Type.Optional(
    Type.Array(Type.String(), { description: 'Unmet dependencies, or wrong fields.' }),
  ),
});

export const valueStatesSchema = Type.Object({
  state: Type.Union([Type.String(), Type.Null()], {
    description: 'The worst state of all values and of those derived from them; null: no values.',
  }),
  total: Type.Integer({ description: 'Number of values, with those derived from them.' }),
  faults: Type.Array(valueStateSchema, {
    description: 'Values that are not in their desired state, up to 10.',
  }),
});

/** One value. */
export type ValueState = Static<typeof valueStateSchema>;
/** The values of an object. */
export type ValueStates = Static<typeof valueStatesSchema>;

/** How documents read the states of values. */
export interface ValueStateReader {
  summaryOf(keys: readonly string[]): ValueStates;
  /** Each value, followed by those derived from it. */
  statesOf(keys: readonly string[]): ValueState[];
}
