const MIN_TO_COMPACT = 1024;

/** A first-in-first-out queue with constant cost per item; items that were removed are not retained. */
export class Fifo<T> {
  #items: (T | undefined)[] = [];
  #head = 0;

  get size(): number {
    return this.#items.length - this.#head;
  }

  get first(): T | undefined {
    return this.#items[this.#head];
  }

  push(item: T): void {
    this.#items.push(item);
  }

  shift(): T | undefined {
    const item = this.#items[this.#head];
    if (this.size === 0) return undefined;
    this.#items[this.#head++] = undefined;
    if (this.#head >= MIN_TO_COMPACT && this.#head * 2 >= this.#items.length) {
      this.#items = this.#items.slice(this.#head);
      this.#head = 0;
    }
    return item;
  }

  /** The oldest item first. */
  *[Symbol.iterator](): Generator<T, void, void> {
    for (let i = this.#head; i < this.#items.length; i++) yield this.#items[i] as T;
  }
}
