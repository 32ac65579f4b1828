/** The transaction of one event: handlers put values into it, the event loop commits it once. */
import type { Value } from '#kvscheduler/api/transaction.ts';

export interface PutOptions {
  /**
   * The value may stay pending, in a `RevertOnFailure` event, too: it is created when its dependencies
   * are met. Default: false.
   */
  readonly optional?: boolean;
}

export interface ResyncTransaction {
  /** Sets the desired value of a key; the last put wins. */
  put(key: string, value: Value, options?: PutOptions): void;
  /** Desired value of the key in this transaction; undefined if it was not put or was deleted. */
  get<V extends Value = Value>(key: string): V | undefined;
}

export interface UpdateTransaction extends ResyncTransaction {
  delete(key: string): void;
}
