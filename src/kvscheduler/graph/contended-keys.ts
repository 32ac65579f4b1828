/**
 * Keys that a base value derives although another value has them, with these bases. When a key becomes
 * free, its bases are planned again. Keys that became free are kept in a set of their own, so that no transaction
 * looks at all contended keys.
 */
export class ContendedKeys {
  readonly #bases = new Map<string, Set<string>>();
  /** By base. */
  readonly #keys = new Map<string, Set<string>>();
  readonly #free = new Set<string>();

  /** @param isFree no value has the key any more */
  add(key: string, base: string, isFree: boolean): void {
    addTo(this.#bases, key, base);
    addTo(this.#keys, base, key);
    if (isFree) this.#free.add(key);
  }

  /** No value has the key any more, contended or not. */
  setFree(key: string): void {
    if (this.#bases.has(key)) this.#free.add(key);
  }

  /** Another value has taken the key, and its bases wait until that gives it up. */
  setTaken(key: string): void {
    this.#free.delete(key);
  }

  /** Contended keys that may be free: a value can have taken one since it was set free. */
  get free(): ReadonlySet<string> {
    return this.#free;
  }

  has(key: string): boolean {
    return this.#bases.has(key);
  }

  /** Keys of the base values that derive the key, too. */
  basesOf(key: string): Iterable<string> {
    return this.#bases.get(key) ?? [];
  }

  /** The base does not wait for the key any more. */
  delete(key: string, base: string): void {
    deleteFrom(this.#keys, base, key);
    deleteFrom(this.#bases, key, base);
    if (!this.#bases.has(key)) this.#free.delete(key);
  }

  /** The base does not exist any more. */
  deleteBase(base: string): void {
    for (const key of this.#keys.get(base) ?? []) this.delete(key, base);
  }

  copy(): ContendedKeys {
    const copy = new ContendedKeys();
    for (const [key, bases] of this.#bases) copy.#bases.set(key, new Set(bases));
    for (const [base, keys] of this.#keys) copy.#keys.set(base, new Set(keys));
    for (const key of this.#free) copy.#free.add(key);
    return copy;
  }
}

function addTo(sets: Map<string, Set<string>>, name: string, item: string): void {
  const items = sets.get(name);
  if (items) items.add(item);
  else sets.set(name, new Set([item]));
}

function deleteFrom(sets: Map<string, Set<string>>, name: string, item: string): void {
  const items = sets.get(name);
  if (items?.delete(item) && items.size === 0) sets.delete(name);
}
