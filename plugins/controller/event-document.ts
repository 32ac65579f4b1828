/** The JSON of the Go agent's EventRecord. */
import type { ProcessedEvent, EventTrace as TraceDocument } from '#documents/events.ts';
import type { RecordedTransaction } from '#documents/scheduler/transaction-record.ts';
import { rfc3339 } from '#infra/clock/rfc3339.ts';
import type { EventRecord, EventTrace } from './event-record.ts';

/**
 * Error objects are empty, the texts are in `ErrorStr`.
 * @param transaction record of a transaction in the scheduler's REST format
 */
export function eventDocument(
  record: EventRecord,
  transaction: (seqNum: number) => RecordedTransaction | undefined,
): ProcessedEvent {
  return {
    SeqNum: record.seqNum,
    ProcessingStart: rfc3339(record.start),
    ProcessingEnd: rfc3339(record.end),
    IsFollowUp: record.followUpTo !== undefined,
    FollowUpTo: record.followUpTo ?? 0,
    Name: record.name,
    Description: record.description,
    Method: record.method,
    Handlers: record.handlers.map(({ handler, revert, change, error, startMs, tookMs }) => ({
      Handler: handler,
      Revert: revert,
      Change: change,
      Error: error === undefined ? null : {},
      ErrorStr: error ?? '',
      StartMs: startMs,
      TookMs: tookMs,
    })),
    TxnError: record.transactionError === undefined ? null : {},
    TxnErrorStr: record.transactionError ?? '',
    Txn: record.transaction === undefined ? null : (transaction(record.transaction) ?? null),
    Trace: traceDocument(record.trace, record.transaction),
  };
}

/** External cause of the event, and its times in milliseconds. */
function traceDocument(
  { origin, queuedMs, totalMs, commitStartMs, commitMs, transaction }: EventTrace,
  seqNum: number | undefined,
): TraceDocument {
  return {
    Origin: origin
      ? {
          Key: origin.key,
          Revision: origin.revision,
          Container: origin.container,
          Heard: origin.heard === undefined ? undefined : rfc3339(origin.heard),
        }
      : null,
    QueuedMs: queuedMs,
    TotalMs: totalMs,
    CommitStartMs: commitStartMs ?? null,
    CommitMs: commitMs ?? null,
    Transaction: transaction
      ? {
          SeqNum: seqNum ?? null,
          QueuedMs: transaction.queuedMs,
          ReadingMs: transaction.readingMs,
          PlanningMs: transaction.planningMs,
          WritingMs: transaction.writingMs,
          ExecutionMs: transaction.executionMs,
          Operations: transaction.operations,
        }
      : null,
  };
}
