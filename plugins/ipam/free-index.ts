const BITS = 32;
const FULL = 0xffffffff;

/**
 * The set of used numbers in 0 … size − 1, which finds the next free one without iterating over used
 * ones: a tree of 32-bit words, in which a bit of an upper word is set if the word below is full.
 * Empty words take no memory, so the range may be very large.
 */
export class FreeIndex {
  readonly #size: number;
  /** Bottom level first; each maps the number of a word to its bits. */
  readonly #levels: readonly Map<number, number>[];
  #used = 0;

  /** @param size up to 2^52 */
  constructor(size: number) {
    this.#size = size;
    const levels: Map<number, number>[] = [];
    for (let words = size; words > 1 || levels.length === 0; words = Math.ceil(words / BITS))
      levels.push(new Map());
    this.#levels = levels;
  }

  /** Number of used numbers. */
  get used(): number {
    return this.#used;
  }

  has(number: number): boolean {
    const word = this.#levels[0]!.get(Math.floor(number / BITS)) ?? 0;
    return (word & bit(number)) !== 0;
  }

  add(number: number): void {
    if (this.has(number)) return;
    this.#used++;
    let at = number;
    for (const level of this.#levels) {
      const index = Math.floor(at / BITS);
      const word = ((level.get(index) ?? 0) | bit(at)) >>> 0;
      level.set(index, word);
      if (word !== FULL) return;
      at = index;
    }
  }

  delete(number: number): void {
    if (!this.has(number)) return;
    this.#used--;
    let at = number;
    for (const level of this.#levels) {
      const index = Math.floor(at / BITS);
      const word = level.get(index) ?? 0;
      const rest = (word & ~bit(at)) >>> 0;
      if (rest === 0) level.delete(index);
      else level.set(index, rest);
      if (word !== FULL) return;
      at = index;
    }
  }

  /** The lowest free number from `from` on; undefined if all of them are used. */
  next(from: number): number | undefined {
    let at = from;
    for (let height = 0; height < this.#levels.length; height++) {
      const found = this.#inWord(height, at);
      if (found !== undefined) return this.#descend(height, found);
      // this word has no free number from here on: find the next word that is not full, one level up
      at = Math.floor(at / BITS) + 1;
    }
    return undefined;
  }

  /** The lowest clear bit of the word that holds `at`, from `at` on. */
  #inWord(height: number, at: number): number | undefined {
    const index = Math.floor(at / BITS);
    const word = this.#levels[height]!.get(index) ?? 0;
    const below = bit(at) - 1;
    const clear = ~(word | below) >>> 0;
    if (clear === 0) return undefined;
    return index * BITS + 31 - Math.clz32(clear & -clear);
  }

  #descend(height: number, at: number): number | undefined {
    let number = at;
    for (let level = height - 1; level >= 0; level--) number = this.#inWord(level, number * BITS)!;
    return number < this.#size ? number : undefined;
  }
}

function bit(number: number): number {
  return (1 << (number % BITS)) >>> 0;
}
