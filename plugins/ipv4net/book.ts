import { isDeepStrictEqual } from 'node:util';
import type { ResyncTransaction, UpdateTransaction, Value } from '#eventloop/transaction.ts';
import type { Item } from './items.ts';

/**
 * What is configured, by parts (the node itself, one other node, one pod), so that a change is the
 * difference between what a part was and what it is to be. Two parts may want the same key, such as
 * a route to an address that two nodes give as theirs: then the part whose name comes last has its
 * way, and when it goes the other one gets it. A resync and any sequence of changes that lead to
 * the same parts put the same values.
 */
export class ItemBook {
  readonly #parts = new Map<string, ReadonlyMap<string, Value>>();
  /** Key to parts that want it. */
  readonly #wanting = new Map<string, Set<string>>();

  /** Items of a part; empty when there is none. */
  part(name: string): readonly Item[] {
    return [...(this.#parts.get(name) ?? [])].map(([key, value]) => ({ key, value }));
  }

  clear(): void {
    this.#parts.clear();
    this.#wanting.clear();
  }

  /** Sets a part without telling anybody; no items remove it. */
  set(name: string, items: readonly Item[]): void {
    for (const key of this.#parts.get(name)?.keys() ?? []) {
      const wanting = this.#wanting.get(key)!;
      wanting.delete(name);
      if (wanting.size === 0) this.#wanting.delete(key);
    }
    if (items.length === 0) {
      this.#parts.delete(name);
      return;
    }
    this.#parts.set(name, new Map(items.map(({ key, value }) => [key, value])));
    for (const { key } of items)
      this.#wanting.set(key, (this.#wanting.get(key) ?? new Set()).add(name));
  }

  /** Sets a part and puts what differs from before. */
  change(txn: UpdateTransaction, name: string, items: readonly Item[]): void {
    const keys = new Set([
      ...(this.#parts.get(name)?.keys() ?? []),
      ...items.map(({ key }) => key),
    ]);
    const before = new Map([...keys].map((key) => [key, this.#value(key)]));
    this.set(name, items);
    for (const [key, previous] of before) {
      const current = this.#value(key);
      if (current === undefined) txn.delete(key);
      else if (!isDeepStrictEqual(previous, current)) txn.put(key, current);
    }
  }

  /** Puts all of a part, whether it is configured already or not. */
  putPart(txn: ResyncTransaction, name: string): void {
    for (const key of this.#parts.get(name)?.keys() ?? []) txn.put(key, this.#value(key)!);
  }

  putAll(txn: ResyncTransaction): void {
    for (const key of this.#wanting.keys()) txn.put(key, this.#value(key)!);
  }

  /** Deletes everything and forgets it. */
  deleteAll(txn: UpdateTransaction): void {
    for (const key of this.#wanting.keys()) txn.delete(key);
    this.clear();
  }

  #value(key: string): Value | undefined {
    let last: string | undefined;
    for (const name of this.#wanting.get(key) ?? [])
      if (last === undefined || name > last) last = name;
    return last === undefined ? undefined : this.#parts.get(last)!.get(key);
  }
}
