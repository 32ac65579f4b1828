import type { Slices } from '#infra/clock/slices.ts';
import type { Dependency } from '../api/descriptor.ts';
import { addItem, collectItems, deleteItem, itemCount, type OneOrMany } from './one-or-many.ts';
import { PrefixMap } from './prefix-map.ts';

const none: readonly never[] = [];

/** Whether the dependents of a prefix need not be processed for this key, as far as all keys serve them alike. */
export type IsDone = (prefix: string) => boolean;

/** Finds the dependents of a key: by the key itself, and by the prefixes of `anyOf` dependencies. */
export class DependencyIndex<T extends object> {
  readonly #byKey = new Map<string, OneOrMany<T>>();
  readonly #byPrefix = new PrefixMap<OneOrMany<T>>();
  /** Prefixes of which a dependency accepts only some keys. */
  readonly #selective = new Set<string>();

  add(dependent: T, dependencies: readonly Dependency[]): void {
    if (dependencies.length === 0) return;
    for (const { key, anyOf } of dependencies) {
      if (key !== undefined) addItem(this.#byKey, key, dependent);
      if (!anyOf) continue;
      for (const prefix of anyOf.prefixes) {
        if (anyOf.accepts) this.#selective.add(prefix);
        addItem(this.#byPrefix, prefix, dependent);
      }
    }
  }

  delete(dependent: T, dependencies: readonly Dependency[]): void {
    if (dependencies.length === 0) return;
    for (const { key, anyOf } of dependencies) {
      if (key !== undefined) deleteItem(this.#byKey, key, dependent);
      if (!anyOf) continue;
      for (const prefix of anyOf.prefixes) deleteItem(this.#byPrefix, prefix, dependent);
    }
  }

  /** The number of dependents that `find` finds, at most. */
  count(key: string, isDone?: IsDone): number {
    let count = this.#byKey.size === 0 ? 0 : itemCount(this.#byKey.get(key));
    if (this.#byPrefix.size > 0)
      for (const prefix of this.#prefixesOf(key, isDone))
        count += itemCount(this.#byPrefix.get(prefix));
    return count;
  }

  /**
   * All that have a dependency with the key or a prefix of it, each once, in no order.
   * @param isDone prefixes to leave out, of those whose dependents all keys serve alike
   */
  find(key: string, isDone?: IsDone): readonly T[] {
    const named = this.#byKey.get(key);
    const prefixes = this.#prefixesOf(key, isDone);
    // Most keys have one dependent or none.
    if (prefixes.length === 0 && !(named instanceof Set)) return named ? [named] : none;
    const found = new Set<T>();
    collectItems(named, found);
    for (const prefix of prefixes) collectItems(this.#byPrefix.get(prefix), found);
    return [...found];
  }

  /** `find` for a key with many dependents: adds them to `found`. */
  async collectInSlices(
    key: string,
    found: Set<T>,
    slices: Slices,
    isDone?: IsDone,
  ): Promise<void> {
    const prefixes = this.#prefixesOf(key, isDone).map((prefix) => this.#byPrefix.get(prefix));
    for (const owners of [this.#byKey.get(key), ...prefixes])
      if (owners instanceof Set)
        for (const owner of owners) {
          if (slices.due()) await slices.turn();
          found.add(owner);
        }
      else collectItems(owners, found);
  }

  /** The prefixes of dependencies with which the key begins. */
  prefixesOf(key: string): readonly string[] {
    return this.#prefixesOf(key, undefined);
  }

  #prefixesOf(key: string, isDone: IsDone | undefined): readonly string[] {
    if (this.#byPrefix.size === 0) return none;
    const prefixes = this.#byPrefix.prefixesOf(key);
    if (!isDone || prefixes.length === 0) return prefixes;
    return prefixes.filter((prefix) => this.#selective.has(prefix) || !isDone(prefix));
  }
}
