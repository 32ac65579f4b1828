/**
 * Keys that a base value derives although another value has them, with these bases. When a key becomes
 * free, its bases are planned again. Keys that became free are kept in a set of their own, so that no transaction
 * looks at all contended keys.
 */
export class ContendedKeys {
  readonly #bases = new Map<string, Set<string>>();
  readonly #free = new Set<string>();

  /** @param isFree no value has the key any more */
  add(key: string, base: string, isFree: boolean): void {
    const bases = this.#bases.get(key);
    if (bases) bases.add(base);
    else this.#bases.set(key, new Set([base]));
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
    const bases = this.#bases.get(key);
    if (!bases?.delete(base) || bases.size > 0) return;
    this.#bases.delete(key);
    this.#free.delete(key);
  }

  copy(): ContendedKeys {
    const copy = new ContendedKeys();
    for (const [key, bases] of this.#bases) copy.#bases.set(key, new Set(bases));
    for (const key of this.#free) copy.#free.add(key);
    return copy;
  }
}
