/** Events as the agent sends them. */
import type { ProcessedEvent } from '#documents/events.ts';

const START = Date.UTC(2026, 0, 1);

type Handler = ProcessedEvent['Handlers'][number];

export function handlerCall(Handler: string, fields: Partial<Handler> = {}): Handler {
  return {
    Handler,
    Revert: false,
    Change: '',
    Error: null,
    ErrorStr: '',
    StartMs: 0,
    TookMs: 0,
    ...fields,
  };
}

/** Takes 10 ms, without handlers and transaction. */
export function processedEvent(
  SeqNum: number,
  {
    Trace,
    ...fields
  }: Partial<Omit<ProcessedEvent, 'Trace'>> & {
    readonly Trace?: Partial<ProcessedEvent['Trace']>;
  } = {},
): ProcessedEvent {
  const start = START + SeqNum * 1_000;
  return {
    SeqNum,
    ProcessingStart: new Date(start).toISOString(),
    ProcessingEnd: new Date(start + 10).toISOString(),
    IsFollowUp: false,
    FollowUpTo: 0,
    Name: 'Kubernetes State Change',
    Description: 'Kubernetes State Change',
    Method: 3,
    Handlers: [],
    TxnError: null,
    TxnErrorStr: '',
    Txn: null,
    ...fields,
    Trace: {
      Origin: null,
      QueuedMs: 0,
      TotalMs: 10,
      CommitStartMs: null,
      CommitMs: null,
      Transaction: null,
      ...Trace,
    },
  };
}
