import { deepFreeze } from '#infra/collections/deep-freeze.ts';
import type { Value } from '#kvscheduler/api/transaction.ts';
import { AbortEventError } from './api/errors.ts';
import type { PutOptions, UpdateTransaction } from './api/transaction.ts';

/** Collects the desired values of the handlers of one event; sealed after the last handler. */
export class EventTransaction implements UpdateTransaction {
  readonly #values = new Map<string, Value | null>();
  readonly #optional = new Set<string>();
  #sealed = false;

  /** Key to desired value; null: delete. */
  get values(): ReadonlyMap<string, Value | null> {
    return this.#values;
  }

  /** Keys of values that may stay pending. */
  get optional(): ReadonlySet<string> {
    return this.#optional;
  }

  put(key: string, value: Value, { optional = false }: PutOptions = {}): void {
    this.#ensureOpen();
    if (value === undefined || value === null)
      throw new TypeError(
        `cannot put undefined or null for key ${key}; use delete to remove a value`,
      );
    // The cache, the scheduler and other handlers keep this very object.
    this.#values.set(key, deepFreeze(value));
    if (optional) this.#optional.add(key);
    else this.#optional.delete(key);
  }

  get<V extends Value = Value>(key: string): V | undefined {
    return (this.#values.get(key) as V | null | undefined) ?? undefined;
  }

  delete(key: string): void {
    this.#ensureOpen();
    this.#values.set(key, null);
    this.#optional.delete(key);
  }

  seal(): void {
    this.#sealed = true;
  }

  #ensureOpen(): void {
    if (this.#sealed) throw new AbortEventError('the transaction of this event is closed');
  }
}
