/** Some of the values, found by words, state and descriptor. */
import { Type } from 'typebox';
import { type DocumentOf, text, texts } from '../document.ts';
import { Operation, ValueState } from './value.ts';

const ValueSummary = Type.Object({
  key: Type.String(),
  state: ValueState,
  descriptor: Type.Optional(Type.String()),
  lastOperation: Type.Optional(Operation),
  error: Type.Optional(Type.String()),
  derivedFrom: Type.Optional(text('Key of its base value.')),
  details: texts('What a pending value waits for, the wrong fields of an invalid one.'),
  detailCount: Type.Integer({ description: 'May be more than `details` shows.' }),
});
export type ValueSummary = DocumentOf<typeof ValueSummary>;

export const ValueSearch = Type.Object({
  states: Type.Record(Type.String(), Type.Integer(), {
    description: 'Number of all values in each state, after the last transaction.',
  }),
  total: Type.Integer({ description: 'Number of all values.' }),
  matches: Type.Integer({ description: 'Number of values that were looked for.' }),
  values: Type.Array(ValueSummary, {
    description: 'Those after `after`, in the order of their keys.',
  }),
  hasMore: Type.Boolean({ description: 'There are matches after the last of `values`.' }),
});
export type ValueSearch = DocumentOf<typeof ValueSearch>;
