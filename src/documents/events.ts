/** Documents of the event loop, in the form of the Go agent's EventRecord. */
import { Type } from 'typebox';
import { type DocumentOf, orNull, text } from './document.ts';
import { RecordedTransaction } from './scheduler/transaction-record.ts';

const errorObject = orNull(
  Type.Object({}),
  'null: none; an empty object: the text is in the field beside it.',
);
const ms = (description: string) => Type.Number({ description });

const HandlerCall = Type.Object({
  Handler: Type.String(),
  Revert: Type.Boolean(),
  Change: Type.String(),
  Error: errorObject,
  ErrorStr: Type.String(),
  StartMs: ms('From the start of processing.'),
  TookMs: Type.Number(),
});
export type HandlerCall = DocumentOf<typeof HandlerCall>;

const EventTrace = Type.Object(
  {
    Origin: orNull(
      Type.Object({
        Key: Type.Optional(Type.String()),
        Revision: Type.Optional(Type.String()),
        Container: Type.Optional(Type.String()),
        Heard: Type.Optional(text('RFC 3339: when the agent learned of it.')),
      }),
      'null: the agent itself.',
    ),
    QueuedMs: Type.Number(),
    TotalMs: ms('From its origin to its end.'),
    CommitStartMs: orNull(
      Type.Number(),
      'From the start of processing; null: nothing was committed.',
    ),
    CommitMs: orNull(Type.Number(), 'null: nothing was committed.'),
    Transaction: orNull(
      Type.Object({
        SeqNum: orNull(Type.Integer(), 'null: it has none yet.'),
        QueuedMs: ms('Waiting for the transactions before it; the times that follow are in order.'),
        ReadingMs: Type.Number(),
        PlanningMs: Type.Number(),
        WritingMs: Type.Number(),
        ExecutionMs: Type.Number(),
        Operations: Type.Integer(),
      }),
      'null: nothing was committed.',
    ),
  },
  { description: 'External cause of the event, and its times in milliseconds.' },
);
export type EventTrace = DocumentOf<typeof EventTrace>;

/** One record of the history, and one message of the stream. */
export const ProcessedEvent = Type.Object({
  SeqNum: Type.Integer(),
  ProcessingStart: text('RFC 3339.'),
  ProcessingEnd: text('RFC 3339.'),
  IsFollowUp: Type.Boolean(),
  FollowUpTo: Type.Integer(),
  Name: Type.String(),
  Description: Type.String(),
  Method: Type.Integer({
    description: 'FullResync 0, DownstreamResync 1, UpstreamResync 2, Update 3.',
  }),
  Handlers: Type.Array(HandlerCall),
  TxnError: errorObject,
  TxnErrorStr: Type.String(),
  Txn: orNull(RecordedTransaction, 'The record of the transaction; null: none, or left out.'),
  Trace: EventTrace,
});
export type ProcessedEvent = DocumentOf<typeof ProcessedEvent>;

/** One event, or a list of events without the argument seq-num. */
export const EventHistory = Type.Union([ProcessedEvent, Type.Array(ProcessedEvent)]);
