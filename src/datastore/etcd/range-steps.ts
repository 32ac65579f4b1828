/**
 * Ends of the requests of a long list. etcd counts the keys of a range for each answer, however few it returns: in pages of
 * 1,000 up to the end of the prefix, it would visit 150,000 keys 75 times each. So a request ends some pages after its
 * beginning, as far as the keys of the last page tell how dense they are. A wrong guess costs time, and nothing else: each
 * range begins where the one before it ends.
 */

/** The rest of a list is one range if it has so many pages. */
const FEW_PAGES = 8;
/** Pages of a range, if the next keys are as dense as the last ones. */
const PAGES = 2;
/** Bytes of a key from the first one on that differs within a page, as a number. */
const DIGITS = 6;
const LIMIT = 256 ** DIGITS;
/**
 * After a range with too few keys, at most; squared after each further one up to the limit: where keys with a long beginning in
 * common end, the next ones may differ from them in any of its bytes.
 */
const GROWTH = 16;
const MAX_GROWTH = 2 ** 256;

export class RangeSteps {
  readonly #end: Buffer;
  readonly #page: number;
  /** Keys that no answer has had; at first unknown. */
  #left: number | undefined;
  /** Bytes of a key before its digits. */
  #depth = 0;
  /** Difference of the digits between the ends of a range; undefined: nothing is known. */
  #width: number | undefined;
  #growth = GROWTH;

  /**
   * @param end of the list
   * @param page keys of a request, at most
   */
  constructor(end: Buffer, page: number) {
    this.#end = end;
    this.#page = page;
  }

  /** End of the range that begins with a key. */
  endAfter(key: Buffer): Buffer {
    if (this.#width === undefined || this.#isShort) return this.#end;
    const head = key.subarray(0, this.#depth);
    const sum = digitsOf(key, this.#depth) + this.#width;
    const end = sum < LIMIT ? Buffer.concat([head, bytesOf(sum)]) : successor(head);
    return end === undefined || Buffer.compare(end, this.#end) > 0 ? this.#end : end;
  }

  /** A range has so many keys, and the answer those from the first to the last one. */
  sawPage(count: number, first: Buffer, last: Buffer): void {
    this.#left = (this.#left ?? count) - this.#page;
    let depth = 0;
    while (depth < first.length && first[depth] === last[depth]) depth++;
    this.#depth = depth;
    this.#growth = GROWTH;
    this.#width = PAGES * Math.max(1, digitsOf(last, depth) - digitsOf(first, depth));
  }

  /** A range has ended with so many keys. */
  sawEnd(keys: number): void {
    this.#left = (this.#left ?? keys) - keys;
    if (this.#width === undefined || keys >= this.#page) return;
    const growth = Math.ceil((2 * this.#page) / (keys + 1));
    this.#width *= growth < GROWTH ? growth : this.#growth;
    this.#growth = growth < GROWTH ? GROWTH : Math.min(MAX_GROWTH, this.#growth ** 2);
    while (this.#width >= LIMIT && this.#depth > 0) {
      this.#width = Math.ceil(this.#width / 256);
      this.#depth--;
    }
  }

  get #isShort(): boolean {
    return this.#left !== undefined && this.#left <= FEW_PAGES * this.#page;
  }
}

function digitsOf(key: Buffer, from: number): number {
  let number = 0;
  for (let at = from; at < from + DIGITS; at++) number = number * 256 + (key[at] ?? 0);
  return number;
}

function bytesOf(number: number): Buffer {
  const bytes = Buffer.alloc(DIGITS);
  bytes.writeUIntBE(number, 0, DIGITS);
  return bytes;
}

/** The first key after all that begin with these bytes; undefined: there is none. */
function successor(head: Buffer): Buffer | undefined {
  for (let length = head.length; length > 0; length--)
    if (head[length - 1]! < 255) {
      const end = Buffer.from(head.subarray(0, length));
      end[length - 1]!++;
      return end;
    }
  return undefined;
}
