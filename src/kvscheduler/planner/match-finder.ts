import type { Dependency } from '../api/descriptor.ts';
import { PrefixMap } from '../graph/prefix-map.ts';

/** Returns the keys with a prefix, in order, from the first one or after one of them. */
export type KeysWithPrefix = (prefix: string, after?: string) => Iterable<string>;

/**
 * Finds keys with a property that match dependencies. For each prefix it remembers one: many values
 * may need any key of the same prefix. A key may lose the property at any time; when it gets it,
 * `gained` has to be called.
 */
export class MatchFinder {
  readonly has: (key: string) => boolean;
  readonly #baseOf: (key: string) => string | undefined;
  readonly #keysWithPrefix: KeysWithPrefix;
  /** The key that was found last; undefined: there is none. */
  readonly #found = new PrefixMap<string | undefined>();
  /** The key that was found last for a dependency that accepts only some keys. */
  readonly #accepted = new Map<string, string>();
  /** A key that has another base than the one in `#found`; undefined: there is none. */
  readonly #others = new Map<string, string | undefined>();

  /**
   * @param has the property
   * @param baseOf the key of the value that the value of a key is derived from
   */
  constructor(
    keysWithPrefix: KeysWithPrefix,
    has: (key: string) => boolean,
    baseOf: (key: string) => string | undefined,
  ) {
    this.#keysWithPrefix = keysWithPrefix;
    this.has = has;
    this.#baseOf = baseOf;
  }

  /** A key that matches the dependency. @param isExcluded keys that do not count */
  find({ key, anyOf }: Dependency, isExcluded?: (key: string) => boolean): string | undefined {
    if (key !== undefined && this.has(key) && !isExcluded?.(key)) return key;
    if (!anyOf) return undefined;
    const { prefixes, accepts } = anyOf;
    const fits = (one: string): boolean => (accepts?.(one) ?? true) && !isExcluded?.(one);
    for (const prefix of prefixes) {
      let found = this.findWithPrefix(prefix);
      if (found !== undefined && !fits(found)) found = this.#findAccepted(prefix, fits);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  /** Any key with the prefix. */
  findWithPrefix(prefix: string): string | undefined {
    const known = this.#found.get(prefix);
    if (known === undefined ? this.#found.has(prefix) : this.has(known)) return known;
    const found = this.#search(prefix, known, this.has);
    this.#found.set(prefix, found);
    return found;
  }

  /**
   * The value that finds no key with the prefix, because all keys are derived from it: what is derived from a
   * value does not meet its own dependencies.
   * @returns the key of the value; undefined: every value finds a key; an empty text: none does
   */
  unserved(prefix: string): string | undefined {
    const found = this.findWithPrefix(prefix);
    if (found === undefined) return '';
    const base = this.#baseOf(found);
    if (base === undefined) return undefined;
    const isOther = (key: string): boolean => this.has(key) && this.#baseOf(key) !== base;
    const known = this.#others.get(prefix);
    if (known === undefined ? this.#others.has(prefix) : isOther(known))
      return known === undefined ? base : undefined;
    const other = this.#search(prefix, known, isOther);
    this.#others.set(prefix, other);
    return other === undefined ? base : undefined;
  }

  /** The key has the property now. */
  gained(key: string): void {
    if (this.#found.size === 0) return;
    for (const prefix of this.#found.prefixesOf(key)) {
      if (this.#found.get(prefix) === undefined) this.#found.set(prefix, key);
      if (this.#others.get(prefix) === undefined) this.#others.delete(prefix);
    }
  }

  /** Begins after the key that was found last: most of those before it have lost the property, too. */
  #search(
    prefix: string,
    last: string | undefined,
    fits: (key: string) => boolean,
  ): string | undefined {
    for (const key of this.#keysWithPrefix(prefix, last)) if (fits(key)) return key;
    if (last !== undefined)
      for (const key of this.#keysWithPrefix(prefix)) if (fits(key)) return key;
    return undefined;
  }

  #findAccepted(prefix: string, fits: (key: string) => boolean): string | undefined {
    const last = this.#accepted.get(prefix);
    if (last !== undefined && this.has(last) && fits(last)) return last;
    for (const key of this.#keysWithPrefix(prefix)) {
      if (!this.has(key) || !fits(key)) continue;
      this.#accepted.set(prefix, key);
      return key;
    }
    return undefined;
  }
}
