/** Transactions in parts that a page can show: their records may have thousands of operations with values. */
import { Type } from 'typebox';
import { count, type DocumentOf, orNull, text } from '../document.ts';
import { operationFields } from './transaction-record.ts';
import { RecordedValue, ValueState } from './value.ts';

const number = Type.Integer({ minimum: 0 });

const summaryFields = {
  SeqNum: number,
  Start: text('RFC 3339'),
  Stop: text('RFC 3339'),
  TookMs: Type.Number(),
  TxnType: text('NBTransaction, SBNotification or RetryFailedOps'),
  ResyncType: orNull(Type.String(), 'FullResync, UpstreamResync or DownstreamResync'),
  Description: Type.String(),
  RetryForTxn: orNull(number, 'The transaction that failed first; null: it is no retry.'),
  RetryAttempt: orNull(number, 'null: it is no retry.'),
  Values: count('number of values that it was to set'),
  Planned: count('number of planned operations'),
  Executed: count('number of executed operations'),
  Failed: count('number of operations that failed'),
  NotExecuted: count('planned operations without execution'),
  NotPlanned: count('executed operations that were not planned'),
  Reverted: count('executed operations that undo others'),
  Errors: count('errors of reading and verification'),
  Omitted: count('entries that the history has left out'),
};

export const TransactionSummary = Type.Object(summaryFields);
export type TransactionSummary = DocumentOf<typeof TransactionSummary>;

export const TransactionList = Type.Object({
  Transactions: Type.Array(TransactionSummary),
  Before: orNull(number, 'the argument for the next page; null: there is none'),
});
export type TransactionList = DocumentOf<typeof TransactionList>;

const value = Type.Optional(
  orNull(RecordedValue, 'null: there is none; absent: it was not asked for'),
);

const TransactionOperation = Type.Object(
  {
    ...operationFields,
    Index: count('place in the list of all operations'),
    ExecutedAt: orNull(number, 'place in the order of execution; null: not executed'),
    IsPlanned: Type.Boolean(),
    PlannedState: orNull(ValueState, 'state that the plan expected; null: it was not planned'),
    PrevState: ValueState,
    NewState: ValueState,
    PrevValue: value,
    NewValue: value,
  },
  { description: 'an operation that was planned, executed, or both' },
);
export type TransactionOperation = DocumentOf<typeof TransactionOperation>;

export const TransactionDetail = Type.Object({
  ...summaryFields,
  RetrieveErrors: Type.Array(Type.String()),
  VerificationErrors: Type.Array(Type.String()),
  Matching: count('operations that the arguments select'),
  Operations: Type.Array(TransactionOperation),
});
export type TransactionDetail = DocumentOf<typeof TransactionDetail>;
