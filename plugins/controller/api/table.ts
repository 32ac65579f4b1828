import { SharedMap } from '#infra/collections/shared-map.ts';
import type { Journal } from './journal.ts';

/**
 * A map in the state of a handler. If an event is reverted, the event loop rolls back what it has changed here.
 * Values are read-only from when they are set; other plugins get the `view`.
 */
export class Table<K, V> extends SharedMap<K, V> {
  readonly #journal: Journal;

  /** @param journal `ctx.journal` of the resync that creates the state */
  constructor(journal: Journal) {
    super();
    this.#journal = journal;
  }

  override set(key: K, value: V): this {
    this.#recordUndo(key);
    return super.set(key, value);
  }

  override delete(key: K): boolean {
    this.#recordUndo(key);
    return super.delete(key);
  }

  override clear(): void {
    for (const key of [...this.keys()]) this.delete(key);
  }

  #recordUndo(key: K): void {
    const before = this.get(key);
    this.#journal.record(
      before === undefined ? () => super.delete(key) : () => super.set(key, before),
    );
  }
}
