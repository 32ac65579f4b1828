/** States of values, in the form that agentctl reads. */
import { Type } from 'typebox';
import { type DocumentOf, texts } from '../document.ts';
import { Operation, ValueState } from './value.ts';

const ValueStatus = Type.Object({
  key: Type.String(),
  state: ValueState,
  error: Type.Optional(Type.String()),
  last_operation: Type.Optional(Operation),
  lastOperation: Type.Optional(
    Type.Enum(['CREATE', 'UPDATE', 'DELETE'], { description: 'As the original spells it.' }),
  ),
  details: Type.Optional(
    texts('The unmet dependencies of a pending value, or the wrong fields of an invalid one.'),
  ),
});

const BaseValueStatus = Type.Object({
  value: ValueStatus,
  derived_values: Type.Optional(Type.Array(ValueStatus)),
  last_valid_state: Type.Optional(ValueState),
});
export type BaseValueStatus = DocumentOf<typeof BaseValueStatus>;

/** Of one value with the argument key. */
export const SchedulerStatus = Type.Union([BaseValueStatus, Type.Array(BaseValueStatus)]);
