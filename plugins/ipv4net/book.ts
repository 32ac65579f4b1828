import { isDeepStrictEqual } from 'node:util';
import type { Value } from '#kvscheduler/api/transaction.ts';
import type { ResyncTransaction, UpdateTransaction } from '#plugins/controller/api/transaction.ts';
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
  /** Key to the part that wants it, or to the parts where they are several. */
  readonly #wanting = new Map<string, string | Set<string>>();

  /** Items of a part; empty when there is none. */
  part(name: string): readonly Item[] {
    return [...(this.#parts.get(name) ?? [])].map(([key, value]) => ({ key, value }));
  }

  /** Sets a part without telling anybody; no items remove it. */
  set(name: string, items: readonly Item[]): void {
    for (const key of this.#parts.get(name)?.keys() ?? []) this.#unwant(key, name);
    if (items.length === 0) {
      this.#parts.delete(name);
      return;
    }
    this.#parts.set(name, new Map(items.map(({ key, value }) => [key, value])));
    for (const { key } of items) this.#want(key, name);
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

  /** Everything, each key once. */
  *items(): Iterable<Item> {
    for (const key of this.#wanting.keys()) yield { key, value: this.#value(key)! };
  }

  /** Deletes everything and forgets it. */
  deleteAll(txn: UpdateTransaction): void {
    for (const key of this.#wanting.keys()) txn.delete(key);
    this.#parts.clear();
    this.#wanting.clear();
  }

  #want(key: string, name: string): void {
    const wanting = this.#wanting.get(key);
    if (wanting === undefined || wanting === name) this.#wanting.set(key, name);
    else if (typeof wanting === 'string') this.#wanting.set(key, new Set([wanting, name]));
    else wanting.add(name);
  }

  #unwant(key: string, name: string): void {
    const wanting = this.#wanting.get(key);
    if (wanting instanceof Set && wanting.size > 1) wanting.delete(name);
    else this.#wanting.delete(key);
  }

  #value(key: string): Value | undefined {
    const wanting = this.#wanting.get(key);
    if (wanting === undefined) return undefined;
    let last = '';
    if (typeof wanting === 'string') last = wanting;
    else for (const name of wanting) if (name > last) last = name;
    return this.#parts.get(last)!.get(key);
  }
}
