import { isDeepStrictEqual } from 'node:util';
import type { Value } from '#kvscheduler/api/transaction.ts';
import type { KeyValue } from '#plugins/controller/api/key-value.ts';
import type { ResyncTransaction, UpdateTransaction } from '#plugins/controller/api/transaction.ts';

/**
 * The desired values of this node by group (the node itself, one other node, one pod), so that a
 * change is the difference between the previous and the new values of a group. Two groups may set
 * the same key, such as a route to an address that two nodes announce: the group whose name sorts
 * last wins, and when it is removed the value of the other group applies. A resync and any sequence
 * of changes that lead to the same groups put the same values.
 */
export class DesiredValues {
  readonly #groups = new Map<string, ReadonlyMap<string, Value>>();
  /** Key to the group that sets it, or to the groups if there are several. */
  readonly #groupsOfKey = new Map<string, string | Set<string>>();

  /** Values of a group; empty when the group does not exist. */
  group(name: string): readonly KeyValue[] {
    return [...(this.#groups.get(name) ?? [])].map(([key, value]) => ({ key, value }));
  }

  /** Sets a group without putting anything into a transaction; an empty list removes the group. */
  set(name: string, values: readonly KeyValue[]): void {
    for (const key of this.#groups.get(name)?.keys() ?? []) this.#removeFromKey(key, name);
    if (values.length === 0) {
      this.#groups.delete(name);
      return;
    }
    this.#groups.set(name, new Map(values.map(({ key, value }) => [key, value])));
    for (const { key } of values) this.#addToKey(key, name);
  }

  /** Sets a group and puts the differences from the previous state into the transaction. */
  change(txn: UpdateTransaction, name: string, values: readonly KeyValue[]): void {
    const keys = new Set([
      ...(this.#groups.get(name)?.keys() ?? []),
      ...values.map(({ key }) => key),
    ]);
    const before = new Map([...keys].map((key) => [key, this.#effectiveValue(key)]));
    this.set(name, values);
    for (const [key, previous] of before) {
      const current = this.#effectiveValue(key);
      if (current === undefined) txn.delete(key);
      else if (!isDeepStrictEqual(previous, current)) txn.put(key, current);
    }
  }

  /** Puts all values of a group, whether they are configured already or not. */
  putGroup(txn: ResyncTransaction, name: string): void {
    for (const key of this.#groups.get(name)?.keys() ?? [])
      txn.put(key, this.#effectiveValue(key)!);
  }

  /** All values, each key once. */
  *all(): Iterable<KeyValue> {
    for (const key of this.#groupsOfKey.keys()) yield { key, value: this.#effectiveValue(key)! };
  }

  /** Deletes all values in the transaction and removes all groups. */
  deleteAll(txn: UpdateTransaction): void {
    for (const key of this.#groupsOfKey.keys()) txn.delete(key);
    this.#groups.clear();
    this.#groupsOfKey.clear();
  }

  #addToKey(key: string, name: string): void {
    const names = this.#groupsOfKey.get(key);
    if (names === undefined || names === name) this.#groupsOfKey.set(key, name);
    else if (typeof names === 'string') this.#groupsOfKey.set(key, new Set([names, name]));
    else names.add(name);
  }

  #removeFromKey(key: string, name: string): void {
    const names = this.#groupsOfKey.get(key);
    if (names instanceof Set && names.size > 1) names.delete(name);
    else this.#groupsOfKey.delete(key);
  }

  #effectiveValue(key: string): Value | undefined {
    const names = this.#groupsOfKey.get(key);
    if (names === undefined) return undefined;
    let last = '';
    if (typeof names === 'string') last = names;
    else for (const name of names) if (name > last) last = name;
    return this.#groups.get(last)!.get(key);
  }
}
