const CHARACTERS = 0x1_0000;

/** Length of a prefix and its last character, as one number. */
function endOf(text: string, length: number): number {
  return length === 0 ? 0 : length * CHARACTERS + text.charCodeAt(length - 1);
}

/** A map by prefix that finds the prefixes with which a key begins. */
export class PrefixMap<V> extends Map<string, V> {
  /** Number of prefixes with each end: only those whose end a key contains are looked up. */
  readonly #ends = new Map<number, number>();

  override set(prefix: string, value: V): this {
    if (!this.has(prefix)) {
      const end = endOf(prefix, prefix.length);
      this.#ends.set(end, (this.#ends.get(end) ?? 0) + 1);
    }
    return super.set(prefix, value);
  }

  override delete(prefix: string): boolean {
    if (!super.delete(prefix)) return false;
    const end = endOf(prefix, prefix.length);
    const left = (this.#ends.get(end) ?? 0) - 1;
    if (left > 0) this.#ends.set(end, left);
    else this.#ends.delete(end);
    return true;
  }

  prefixesOf(key: string): string[] {
    const prefixes: string[] = [];
    for (const end of this.#ends.keys()) {
      const length = Math.floor(end / CHARACTERS);
      if (length > key.length || endOf(key, length) !== end) continue;
      const prefix = key.slice(0, length);
      if (this.has(prefix)) prefixes.push(prefix);
    }
    return prefixes;
  }
}
