/**
 * Request and result of one transaction. Values are canonical, deeply read-only objects of a model; the
 * key determines the model.
 */

/** A configuration value: canonical and never changed after it was put. */
export type Value = object;

export type TransactionMode = 'update' | 'full-resync' | 'upstream-resync' | 'downstream-resync';

export interface RetryPolicy {
  /** Milliseconds before the first retry. */
  readonly periodMs: number;
  /** 0 means without limit. */
  readonly maxAttempts: number;
  /** Each retry waits twice as long as the one before. */
  readonly exponential: boolean;
}

export interface TransactionRequest {
  readonly description: string;
  readonly mode: TransactionMode;
  /** Key to desired value; null removes (updates only). Empty for a downstream resync. */
  readonly values: ReadonlyMap<string, Value | null>;
  /**
   * `best-effort` applies as much as possible. `revert` undoes everything at the first failure, and
   * treats a value that would stay pending as a failure, unless it is optional (updates only).
   */
  readonly onFailure: 'best-effort' | 'revert';
  /** Keys of values that may stay pending in a transaction with `revert`. */
  readonly optional?: ReadonlySet<string>;
  /**
   * Keys of values that are read from the southbound first, because they may have been changed past the agent
   * (updates only). If they cannot be read, the transaction has a failure.
   */
  readonly reread?: ReadonlySet<string>;
  readonly retry?: RetryPolicy;
}

export interface KeyFailure {
  readonly key: string;
  /** Of a derived value: the key of the value that it is derived from. */
  readonly base?: string;
  readonly operation: 'VALIDATE' | 'CREATE' | 'UPDATE' | 'DELETE' | 'UNDEFINED';
  readonly error: Error;
  /** It failed during the undo: the southbound differs from its state before the transaction. */
  readonly revert?: true;
}

/** A value that is not configured because of an error. */
export interface FailedValue {
  readonly key: string;
  readonly error: Error;
}

/** Durations of the phases of a transaction, in milliseconds. */
export interface TransactionTrace {
  /** Waiting for the transactions before it. */
  readonly queuedMs: number;
  /** Reading the southbound, if the transaction does. */
  readonly readingMs: number;
  readonly planningMs: number;
  /** Writing its text to the log, if the level is debug. */
  readonly writingMs: number;
  /** From the first request to the last reply of the southbound. */
  readonly executionMs: number;
  /** Number of executed operations. */
  readonly operations: number;
}

export interface TransactionResult {
  /** Sequence number of the transaction, by which its record can be looked up. */
  readonly seqNum: number;
  /** Values that failed, in the order of execution; empty on success. */
  readonly failures: readonly KeyFailure[];
  /** Absent if the sink does not measure. */
  readonly trace?: TransactionTrace;
}

/** Receives the transactions of the event loop: the key-value scheduler. */
export interface TransactionSink {
  /**
   * Runs the transaction after those before it. Failed values are in the result; rejects only when
   * the transaction was not executed at all (queue full, scheduler closed, malformed values).
   */
  commit(request: TransactionRequest): Promise<TransactionResult>;
  /** The record of a transaction as REST shows it; undefined if it has expired. */
  record(seqNum: number): object | undefined;
}
