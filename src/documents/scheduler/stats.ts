/** Numbers and durations of transactions, operations and calls of descriptors since the start. */
import { Type } from 'typebox';
import type { DocumentOf } from '../document.ts';

const MethodStats = Type.Object(
  {
    name: Type.String(),
    count: Type.Integer(),
    total: Type.Number(),
    avg: Type.Number(),
    min: Type.Number(),
    max: Type.Number(),
  },
  { description: 'Times are in seconds, rounded to milliseconds.' },
);
export type MethodStats = DocumentOf<typeof MethodStats>;

export const SchedulerStats = Type.Object({
  TxnStats: Type.Object({
    TotalProcessed: Type.Integer(),
    OperationCount: Type.Object({
      CREATE: Type.Integer(),
      UPDATE: Type.Integer(),
      DELETE: Type.Integer(),
    }),
    ValueStateCount: Type.Record(Type.String(), Type.Integer(), {
      description: 'Number of operations by the state that they led to.',
    }),
    ErrorCount: Type.Integer(),
    Methods: Type.Array(MethodStats),
  }),
  GraphMethods: Type.Array(MethodStats),
  AllDescriptors: Type.Array(MethodStats),
  Descriptors: Type.Record(Type.String(), Type.Array(MethodStats)),
});
export type SchedulerStats = DocumentOf<typeof SchedulerStats>;
