/** The record of a transaction. The field names are those of the Go agent, except for `Reason`, which is new. */
import { Type } from 'typebox';
import { type DocumentOf, orNull, text, texts } from '../document.ts';
import { Operation, RecordedValue, ValueState } from './value.ts';

const isTrue = Type.Optional(Type.Literal(true));

/** An operation that was planned or executed. */
export const operationFields = {
  Operation,
  Key: Type.String(),
  NewState: Type.Optional(ValueState),
  NewValue: Type.Optional(RecordedValue),
  NewErrMsg: Type.Optional(Type.String()),
  PrevState: Type.Optional(ValueState),
  PrevValue: Type.Optional(RecordedValue),
  PrevErrMsg: Type.Optional(Type.String()),
  NOOP: isTrue,
  IsDerived: isTrue,
  IsProperty: isTrue,
  IsRevert: isTrue,
  IsRetry: isTrue,
  IsRecreate: isTrue,
  Reason: text('Why it was planned.'),
};

export const RecordedOperation = Type.Object(operationFields);
export type RecordedOperation = DocumentOf<typeof RecordedOperation>;

export const RecordedTarget = Type.Object({
  Key: Type.String(),
  Value: orNull(RecordedValue, 'null: removed.'),
  Origin: Type.Integer({ description: '0: unknown, 1: from NB, 2: from SB.' }),
});
export type RecordedTarget = DocumentOf<typeof RecordedTarget>;

export const RecordedTransaction = Type.Object({
  PreRecord: Type.Optional(
    Type.Literal(true, { description: 'It has not ended: arguments and plan only.' }),
  ),
  WithSimulation: Type.Literal(true),
  Start: text('RFC 3339.'),
  Stop: text('RFC 3339; empty while the transaction runs.'),
  SeqNum: Type.Integer(),
  TxnType: Type.Enum(['SBNotification', 'NBTransaction', 'RetryFailedOps']),
  ResyncType: Type.Optional(Type.Enum(['FullResync', 'UpstreamResync', 'DownstreamResync'])),
  Description: Type.Optional(Type.String()),
  RetryForTxn: Type.Optional(Type.Integer()),
  RetryAttempt: Type.Optional(Type.Integer()),
  Values: Type.Optional(Type.Array(RecordedTarget)),
  Planned: Type.Optional(Type.Array(RecordedOperation)),
  Executed: Type.Optional(Type.Array(RecordedOperation)),
  RetrieveErrors: Type.Optional(
    texts('Descriptors that could not read the southbound, with the reason.'),
  ),
  VerificationErrors: Type.Optional(
    texts('Differences between the southbound and the configured values afterwards.'),
  ),
  Omitted: Type.Optional(
    Type.Integer({ description: 'Values, operations and errors that the history has left out.' }),
  ),
});
export type RecordedTransaction = DocumentOf<typeof RecordedTransaction>;

/** One transaction, or a list of them without the argument seq-num. */
export const TransactionHistory = Type.Union([
  RecordedTransaction,
  Type.Array(RecordedTransaction),
]);
