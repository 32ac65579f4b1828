/** What is kept of a processed event. */

import type { TransactionTrace } from '#kvscheduler/api/transaction.ts';
import type { Event, EventMethod, EventOrigin } from './api/event.ts';

export interface HandlingRecord {
  readonly handler: string;
  readonly revert: boolean;
  /** Description of the change, for updates. */
  readonly change: string;
  readonly error: string | undefined;
  readonly tookMs: number;
}

/** Where the time of an event went, in milliseconds; that of the handlers stands with them. */
export interface EventTrace {
  readonly origin: EventOrigin | undefined;
  /** From the push to the start of processing. */
  readonly queuedMs: number;
  /** From when the agent heard of it to the end of processing. */
  readonly totalMs: number;
  /** From the commit to its answer; undefined when nothing was committed. */
  readonly commitMs: number | undefined;
  /** What the scheduler says of that time. */
  readonly transaction: TransactionTrace | undefined;
}

/** A processed event without its payload, which may be big: the description says what matters. */
export interface EventRecord {
  readonly seqNum: number;
  /** Milliseconds since the epoch. */
  readonly start: number;
  readonly end: number;
  readonly followUpTo: number | undefined;
  /** Of the kind of event. */
  readonly id: string;
  readonly name: string;
  readonly method: EventMethod;
  readonly description: string;
  readonly handlers: readonly HandlingRecord[];
  readonly transactionError: string | undefined;
  /** Sequence number in the scheduler; undefined when nothing was committed. */
  readonly transaction: number | undefined;
  readonly trace: EventTrace;
}

/** An event that is over. */
export interface ProcessedEvent {
  readonly event: Event;
  readonly record: EventRecord;
  /** Everything that went wrong, as one error. */
  readonly error: Error | undefined;
}
