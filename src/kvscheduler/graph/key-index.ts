const BLOCK_SIZE = 512;

/**
 * An ordered set of keys for lookups by prefix. It consists of blocks of sorted keys, so that adding and
 * removing cost two binary searches and one short move, whatever the number of keys.
 */
export class KeyIndex {
  #blocks: string[][] = [];
  #size = 0;

  get size(): number {
    return this.#size;
  }

  add(key: string): void {
    const blocks = this.#blocks;
    if (blocks.length === 0) {
      blocks.push([key]);
      this.#size = 1;
      return;
    }
    const last = blocks.at(-1) as string[];
    // Keys are often added in order.
    const isLast = (last.at(-1) as string) < key;
    const at = isLast ? blocks.length - 1 : this.#blockOf(key);
    const block = blocks[at] as string[];
    const i = isLast ? block.length : lowerBound(block, key);
    if (block[i] === key) return;
    if (isLast) block.push(key);
    else block.splice(i, 0, key);
    this.#size++;
    if (block.length <= BLOCK_SIZE) return;
    // Keys that are added in order result in full blocks instead of half-full ones.
    const cut = at === blocks.length - 1 && i === block.length - 1 ? BLOCK_SIZE : BLOCK_SIZE >> 1;
    blocks.splice(at + 1, 0, block.splice(cut));
  }

  delete(key: string): void {
    const at = this.#blockOf(key);
    const block = this.#blocks[at];
    if (!block) return;
    const i = lowerBound(block, key);
    if (block[i] !== key) return;
    block.splice(i, 1);
    this.#size--;
    if (block.length === 0) this.#blocks.splice(at, 1);
  }

  /**
   * The keys with this prefix, in order: all, or those after one of them. The set must not change while
   * they are being read.
   */
  *withPrefix(prefix: string, after?: string): Generator<string, void, void> {
    const from = after ?? prefix;
    let at = this.#blockOf(from);
    let i = lowerBound(this.#blocks[at] ?? [], from);
    if (after !== undefined && this.#blocks[at]?.[i] === after) i++;
    for (; at < this.#blocks.length; at++, i = 0) {
      const block = this.#blocks[at] as string[];
      for (; i < block.length; i++) {
        const key = block[i] as string;
        if (!key.startsWith(prefix)) return;
        yield key;
      }
    }
  }

  /** Some keys with this prefix, in order: the first ones, or those after `last`. */
  next(prefix: string, last?: string): string[] {
    const from = last ?? prefix;
    let at = this.#blockOf(from);
    let i = lowerBound(this.#blocks[at] ?? [], from);
    if (last !== undefined && this.#blocks[at]?.[i] === last) i++;
    if (i === this.#blocks[at]?.length) [at, i] = [at + 1, 0];
    const keys = this.#blocks[at]?.slice(i) ?? [];
    const end = keys.findIndex((key) => !key.startsWith(prefix));
    return end < 0 ? keys : keys.slice(0, end);
  }

  /** The last block whose first key is not after `key`: where it is or belongs. */
  #blockOf(key: string): number {
    let low = 0;
    let high = this.#blocks.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (((this.#blocks[middle] as string[])[0] as string) <= key) low = middle;
      else high = middle - 1;
    }
    return low;
  }
}

function lowerBound(block: readonly string[], key: string): number {
  let low = 0;
  let high = block.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((block[middle] as string) < key) low = middle + 1;
    else high = middle;
  }
  return low;
}
