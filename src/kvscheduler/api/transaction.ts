/**
 * What the scheduler is asked to do in one transaction, and what it answers. Values are canonical,
 * deeply read-only objects of a model; the key says which model.
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
  /** Key to wanted value; null removes (updates only). Empty for a downstream resync. */
  readonly values: ReadonlyMap<string, Value | null>;
  /**
   * `best-effort` applies all that can be; `revert` undoes everything at the first failure, and
   * counts a value that would stay pending as a failure (updates only).
   */
  readonly onFailure: 'best-effort' | 'revert';
  readonly retry?: RetryPolicy;
}

export interface KeyFailure {
  readonly key: string;
  /** Of a derived value: the key of the wished value that it comes from. */
  readonly base?: string;
  readonly operation: 'VALIDATE' | 'CREATE' | 'UPDATE' | 'DELETE' | 'UNDEFINED';
  readonly error: Error;
  /** It failed while what had been done was undone: the southbound is not what it was before. */
  readonly revert?: true;
}

/** Where the time of a transaction went, in milliseconds. */
export interface TransactionTrace {
  /** Reading the southbound, where the transaction does. */
  readonly readingMs: number;
  readonly planningMs: number;
  readonly executionMs: number;
  /** Operations that were carried out. */
  readonly operations: number;
}

export interface TransactionResult {
  /** Sequence number of the transaction, by which its record can be looked up. */
  readonly seqNum: number;
  /** Values that failed, in the order of execution; empty when all went well. */
  readonly failures: readonly KeyFailure[];
  /** A sink that does not measure leaves it out. */
  readonly trace?: TransactionTrace;
}

/** Where the event loop commits: the key-value scheduler. */
export interface TransactionSink {
  /**
   * Runs the transaction after those before it. Failed values are in the result; rejects only when
   * the transaction did not run at all (queue full, scheduler closed, values that make no sense).
   */
  commit(request: TransactionRequest): Promise<TransactionResult>;
  /** The record of a transaction as REST shows it; undefined when it is no longer kept. */
  record(seqNum: number): object | undefined;
}
