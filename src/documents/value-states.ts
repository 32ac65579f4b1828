/** States of the values that carry one object, for the documents about it. */
import { Type } from 'typebox';
import { type DocumentOf, orNull, text, texts } from './document.ts';

/** One value. */
export const ValueState = Type.Object({
  key: Type.String(),
  state: text('As in GET /scheduler/status.'),
  error: Type.Optional(Type.String()),
  details: Type.Optional(texts('Unmet dependencies, or wrong fields.')),
});
export type ValueState = DocumentOf<typeof ValueState>;

/** The values of an object. */
export const ValueStates = Type.Object({
  state: orNull(
    Type.String(),
    'The worst state of all values and of those derived from them; null: no values.',
  ),
  total: Type.Integer({ description: 'Number of values, with those derived from them.' }),
  faults: Type.Array(ValueState, {
    description: 'Values that are not in their desired state, up to 10.',
  }),
});
export type ValueStates = DocumentOf<typeof ValueStates>;

/** A value that carries an object, as desired and as read from VPP. */
export const CarryingValue = Type.Object({
  key: Type.String(),
  state: text('As in GET /scheduler/status.'),
  error: Type.Optional(Type.String()),
  desired: Type.Unknown(),
  actual: Type.Unknown({ description: 'As read from VPP; null if VPP does not have it.' }),
});
export type CarryingValue = DocumentOf<typeof CarryingValue>;
