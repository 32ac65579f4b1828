import type { Slices } from '#infra/clock/slices.ts';
import type { Dependency } from '../api/descriptor.ts';
import { addItem, collectItems, deleteItem, itemCount, type OneOrMany } from './one-or-many.ts';

/** Finds the dependents of a key: by the key itself, and by the prefixes of `anyOf` dependencies. */
export class DependencyIndex<T extends object> {
  readonly #byKey = new Map<string, OneOrMany<T>>();
  readonly #byPrefix = new Map<string, OneOrMany<T>>();
  /** Number of prefixes of each length: only these lengths are looked up for a key. */
  readonly #lengths = new Map<number, number>();

  add(dependent: T, dependencies: readonly Dependency[]): void {
    for (const { key, anyOf } of dependencies) {
      if (key !== undefined) addItem(this.#byKey, key, dependent);
      if (!anyOf) continue;
      for (const prefix of anyOf.prefixes)
        if (addItem(this.#byPrefix, prefix, dependent))
          this.#lengths.set(prefix.length, (this.#lengths.get(prefix.length) ?? 0) + 1);
    }
  }

  delete(dependent: T, dependencies: readonly Dependency[]): void {
    for (const { key, anyOf } of dependencies) {
      if (key !== undefined) deleteItem(this.#byKey, key, dependent);
      if (!anyOf) continue;
      for (const prefix of anyOf.prefixes)
        if (deleteItem(this.#byPrefix, prefix, dependent)) {
          const left = (this.#lengths.get(prefix.length) ?? 0) - 1;
          if (left > 0) this.#lengths.set(prefix.length, left);
          else this.#lengths.delete(prefix.length);
        }
    }
  }

  /** The number of dependents that `collect` finds, at most. */
  count(key: string): number {
    let count = itemCount(this.#byKey.get(key));
    if (this.#lengths.size === 0) return count;
    for (const length of this.#lengths.keys())
      if (length <= key.length) count += itemCount(this.#byPrefix.get(key.slice(0, length)));
    return count;
  }

  /** Adds to `found` all that have a dependency with the key or a prefix of it. */
  collect(key: string, found: Set<T>): void {
    collectItems(this.#byKey.get(key), found);
    if (this.#lengths.size === 0) return;
    for (const length of this.#lengths.keys())
      if (length <= key.length) collectItems(this.#byPrefix.get(key.slice(0, length)), found);
  }

  /** `collect` for a key with many dependents. */
  async collectInSlices(key: string, found: Set<T>, slices: Slices): Promise<void> {
    const lists = [this.#byKey.get(key)];
    for (const length of this.#lengths.keys())
      if (length <= key.length) lists.push(this.#byPrefix.get(key.slice(0, length)));
    for (const owners of lists)
      if (owners instanceof Set)
        for (const owner of owners) {
          if (slices.due()) await slices.turn();
          found.add(owner);
        }
      else collectItems(owners, found);
  }
}
