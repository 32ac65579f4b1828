/** Records of processed events. */

import type { TransactionTrace } from '#kvscheduler/api/transaction.ts';
import type { Event, EventMethod, EventOrigin } from './api/event.ts';

export interface HandlingRecord {
  readonly handler: string;
  readonly revert: boolean;
  /** Description of the change, for updates. */
  readonly change: string;
  readonly error: string | undefined;
  /** From the start of processing to the call. */
  readonly startMs: number;
  readonly tookMs: number;
}

/** Times of an event in milliseconds; those of the handlers are in their records. */
export interface EventTrace {
  readonly origin: EventOrigin | undefined;
  /** From the push to the start of processing. */
  readonly queuedMs: number;
  /** From when the agent received its cause to the end of processing. */
  readonly totalMs: number;
  /** From the start of processing to the commit; undefined when nothing was committed. */
  readonly commitStartMs: number | undefined;
  /** From the commit to its result. */
  readonly commitMs: number | undefined;
  /** Times of the scheduler. */
  readonly transaction: TransactionTrace | undefined;
}

/** A processed event without its payload, which may be large; the description summarizes it. */
export interface EventRecord {
  readonly seqNum: number;
  /** Milliseconds since the epoch. */
  readonly start: number;
  readonly end: number;
  readonly followUpTo: number | undefined;
  /** ID of the kind of event. */
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

/** A processed event with its record. */
export interface ProcessedEvent {
  readonly event: Event;
  readonly record: EventRecord;
  /** All errors as one. */
  readonly error: Error | undefined;
}
