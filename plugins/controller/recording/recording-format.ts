/**
 * A recorded run on the disk: JSON lines, in the order in which things happened. The first line says
 * what ran; then comes, for each event, all that the handlers were told and all that they said, so
 * that the same handlers can be run again with nothing around them.
 */

import type {
  KeyFailure,
  RetryPolicy,
  TransactionMode,
  Value,
} from '#kvscheduler/api/transaction.ts';
import type { EventOrigin } from '../api/event.ts';
import type { ControllerConfig } from '../config.ts';

/** Of the lines below; a replay takes no other. */
export const FORMAT = 1;

export interface HeaderLine {
  readonly t: 'run';
  readonly format: number;
  /** Of the agent. */
  readonly version: string;
  readonly label: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly controller: ControllerConfig;
  /** Labels of the external sources, in the order of precedence. */
  readonly sources: readonly string[];
  /** What the handlers are made with: configuration of the other plugins, by file. */
  readonly settings: Readonly<Record<string, unknown>>;
}

/** An event is about to be processed. */
export interface EventLine extends RecordedEventData {
  readonly t: 'event';
  readonly n: number;
  readonly at: number;
  readonly followUpTo?: number | undefined;
}

export interface RecordedEventData {
  /** ID and version of the kind. */
  readonly kind: string;
  readonly v: number;
  readonly payload: unknown;
  readonly origin?: EventOrigin | undefined;
}

/** What a port (or an external source) answered to `of`. */
export interface AnswerLine {
  readonly t: 'answer';
  readonly n: number;
  readonly of: string;
  readonly question: string;
  readonly answer?: unknown;
  readonly error?: RecordedError;
}

/** A handler has sent a follow-up. */
export interface FollowUpLine extends RecordedEventData {
  readonly t: 'follow-up';
  readonly n: number;
  readonly of: string;
}

/** What a handler read off clock and chance during one call; absent when nothing. */
export interface ReadingsLine extends Readings {
  readonly t: 'readings';
  readonly n: number;
  readonly of: string;
}

export interface Readings {
  readonly now?: readonly number[];
  /** Whole milliseconds, each with how often it was read in a row. */
  readonly monotonic?: readonly (readonly [ms: number, times: number])[];
  /** Numbers, and bytes as base64. */
  readonly random?: readonly (number | string)[];
}

/** What is committed; written before the scheduler gets it. */
export interface CommitLine extends RecordedTransaction {
  readonly t: 'commit';
  readonly n: number;
}

export interface RecordedTransaction {
  readonly description: string;
  readonly mode: TransactionMode;
  readonly onFailure: 'best-effort' | 'revert';
  readonly retry?: RetryPolicy | undefined;
  readonly values: Readonly<Record<string, Value | null>>;
}

/** What the scheduler made of it: the answer of VPP and Linux. */
export interface ResultLine {
  readonly t: 'result';
  readonly n: number;
  readonly seqNum?: number;
  readonly failures?: readonly RecordedFailure[];
  /** The transaction did not run. */
  readonly rejected?: RecordedError;
}

export interface RecordedFailure extends Omit<KeyFailure, 'error'> {
  readonly error: RecordedError;
}

/** The event is over. */
export interface EndLine {
  readonly t: 'end';
  readonly n: number;
  readonly at: number;
  readonly error?: string | undefined;
  readonly fatal: boolean;
  readonly needsHealing: boolean;
  /** Life of the southbound, each time the loop asked for it. */
  readonly lives: readonly (number | null)[];
}

/** Nothing is recorded after this. */
export interface StopLine {
  readonly t: 'stop';
  readonly reason: string;
}

/** An error as it is written down: with its code it becomes one of the same class again. */
export interface RecordedError {
  readonly name: string;
  readonly message: string;
  readonly code?: string;
  readonly where?: string;
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
