/** The transaction of one event: the handlers put values into it, the event loop commits it once. */
import type { Value } from '#kvscheduler/api/transaction.ts';

export interface ResyncTransaction {
  /** Sets the wanted value of a key; the last put wins. */
  put(key: string, value: Value): void;
  /** What this transaction wants for the key; undefined when nothing was put or it was deleted. */
  get<V extends Value = Value>(key: string): V | undefined;
}

export interface UpdateTransaction extends ResyncTransaction {
  delete(key: string): void;
}
