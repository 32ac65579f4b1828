/**
 * A recording on disk: JSON lines in chronological order. The first line identifies the agent; for
 * each event, the next lines contain all input and output of the handlers, so that the same handlers
 * can be replayed without VPP, datastore and host.
 */

import type {
  KeyFailure,
  RetryPolicy,
  TransactionMode,
  Value,
} from '#kvscheduler/api/transaction.ts';
import type { EventOrigin } from '../api/event.ts';
import type { ControllerConfig } from '../config.ts';

/** Version of the format below; a replay accepts no other version. */
export const FORMAT = 1;

export interface HeaderLine {
  readonly t: 'run';
  readonly format: number;
  /** Version of the agent. */
  readonly version: string;
  readonly label: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly controller: ControllerConfig;
  /** Labels of the external sources, in the order of precedence. */
  readonly sources: readonly string[];
  /** Configuration with which the handlers are created, by file. */
  readonly settings: Readonly<Record<string, unknown>>;
}

/** The processing of an event starts. */
export interface EventLine extends RecordedEventData {
  readonly t: 'event';
  readonly n: number;
  readonly at: number;
  readonly followUpTo?: number | undefined;
}

export interface RecordedEventData {
  /** ID of the kind; `v` is its version. */
  readonly kind: string;
  readonly v: number;
  readonly payload: unknown;
  readonly origin?: EventOrigin | undefined;
}

/** Result of a port call (or of the snapshot of an external source) of handler `of`. */
export interface AnswerLine {
  readonly t: 'answer';
  readonly n: number;
  readonly of: string;
  readonly question: string;
  readonly answer?: unknown;
  readonly error?: RecordedError;
}

/** A handler sent a follow-up. */
export interface FollowUpLine extends RecordedEventData {
  readonly t: 'follow-up';
  readonly n: number;
  readonly of: string;
}

/** Values that a handler read from the clock and the random source during one call; absent if none. */
export interface ReadingsLine extends Readings {
  readonly t: 'readings';
  readonly n: number;
  readonly of: string;
}

export interface Readings {
  readonly now?: readonly number[];
  /** Whole milliseconds, each with the number of consecutive reads. */
  readonly monotonic?: readonly (readonly [ms: number, times: number])[];
  /** Numbers, and bytes as base64. */
  readonly random?: readonly (number | string)[];
}

/** The transaction; written before the scheduler receives it. */
export interface CommitLine extends RecordedTransaction {
  readonly t: 'commit';
  readonly n: number;
}

export interface RecordedTransaction {
  readonly description: string;
  readonly mode: TransactionMode;
  readonly onFailure: 'best-effort' | 'revert';
  /** Keys of values that may stay pending. */
  readonly optional?: readonly string[];
  readonly retry?: RetryPolicy | undefined;
  readonly values: Readonly<Record<string, Value | null>>;
}

/** Result of the transaction in the scheduler. */
export interface ResultLine {
  readonly t: 'result';
  readonly n: number;
  readonly seqNum?: number;
  readonly failures?: readonly RecordedFailure[];
  /** Why the transaction was not executed. */
  readonly rejected?: RecordedError;
}

export interface RecordedFailure extends Omit<KeyFailure, 'error'> {
  readonly error: RecordedError;
}

/** The processing of an event has ended. */
export interface EndLine {
  readonly t: 'end';
  readonly n: number;
  readonly at: number;
  readonly error?: string | undefined;
  readonly fatal: boolean;
  readonly needsHealing: boolean;
  /** Generation of the southbound connection, each time the loop read it. */
  readonly lives: readonly (number | null)[];
}

/** Nothing is recorded after this. */
export interface StopLine {
  readonly t: 'stop';
  readonly reason: string;
}

/** A serialized error; its code identifies its class. */
export interface RecordedError {
  readonly name: string;
  readonly message: string;
  readonly code?: string;
  readonly where?: string;
  /** Of an error of the operating system. */
  readonly syscall?: string;
}

export type Line =
  | HeaderLine
  | EventLine
  | AnswerLine
  | FollowUpLine
  | ReadingsLine
  | CommitLine
  | ResultLine
  | EndLine
  | StopLine;
