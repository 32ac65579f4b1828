const none: readonly never[] = [];

/** Prefixes of one length that end with the same character. */
interface End {
  readonly length: number;
  readonly last: number;
  prefixes: number;
}

/** A map by prefix that finds the prefixes with which a key begins. */
export class PrefixMap<V> extends Map<string, V> {
  /** Only prefixes whose end a key contains are looked up. */
  readonly #ends: End[] = [];

  override set(prefix: string, value: V): this {
    if (!this.has(prefix)) {
      const { length } = prefix;
      const end = this.#endOf(prefix);
      if (end) end.prefixes++;
      else this.#ends.push({ length, last: prefix.charCodeAt(length - 1), prefixes: 1 });
    }
    return super.set(prefix, value);
  }

  override delete(prefix: string): boolean {
    if (!super.delete(prefix)) return false;
    const end = this.#endOf(prefix) as End;
    if (--end.prefixes === 0) this.#ends.splice(this.#ends.indexOf(end), 1);
    return true;
  }

  prefixesOf(key: string): readonly string[] {
    // Most keys have none: no array is made, and no iterator.
    let found: string[] | undefined;
    for (let i = 0; i < this.#ends.length; i++) {
      const { length, last } = this.#ends[i] as End;
      if (length > 0 && key.charCodeAt(length - 1) !== last) continue;
      const prefix = key.slice(0, length);
      if (!this.has(prefix)) continue;
      found ??= [];
      found.push(prefix);
    }
    return found ?? none;
  }

  #endOf(prefix: string): End | undefined {
    const { length } = prefix;
    const last = prefix.charCodeAt(length - 1);
    return this.#ends.find((end) => end.length === length && (length === 0 || end.last === last));
  }
}
