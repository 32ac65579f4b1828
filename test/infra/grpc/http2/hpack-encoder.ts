/** An HPACK encoder that draws one of all allowed representations for each field (RFC 7541). */
import type { Random } from '#infra/clock/clock.ts';

export type Field = readonly [name: string, value: string];

/** Length of the Huffman code of each character, from RFC 7541, appendix B. */
const huffmanBits = `
  13 23 28 28 28 28 28 28 28 24 30 28 28 30 28 28 28 28 28 28 28 28 30 28 28 28 28 28 28 28 28 28
  6 10 10 12 13 6 8 11 10 10 8 11 8 6 6 6 5 5 5 6 6 6 6 6 6 6 7 8 15 6 12 10
  13 6 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 8 7 8 13 19 13 14 6
  15 5 6 5 6 5 6 6 6 5 7 7 6 6 6 5 6 7 6 5 5 6 7 7 7 7 7 15 11 14 13 28
  20 22 20 20 22 22 22 23 22 23 23 23 23 23 24 23 24 24 22 23 24 23 23 23 23 21 22 23 22 23 23 24
  22 21 20 22 22 23 23 21 23 22 22 24 21 22 23 23 21 21 22 21 23 22 23 23 20 22 22 22 23 22 22 23
  26 26 20 19 22 23 22 25 26 26 26 27 27 26 24 25 19 21 26 27 27 26 27 24 21 21 26 26 28 27 27 27
  20 24 20 21 22 21 21 23 22 22 25 25 24 24 26 23 26 27 26 26 27 27 27 27 27 28 27 27 27 27 27 26`
  .trim()
  .split(/\s+/)
  .map(Number);

/** Codes as text of binary digits, by character. */
const huffmanCodes: readonly string[] = codesOf();

function codesOf(): string[] {
  const codes: string[] = [];
  const order = huffmanBits
    .map((bits, character) => ({ bits, character }))
    .sort((a, b) => a.bits - b.bits || a.character - b.character);
  let code = 0;
  let length = order[0]!.bits;
  for (const { bits, character } of order) {
    code *= 2 ** (bits - length);
    length = bits;
    codes[character] = code.toString(2).padStart(bits, '0');
    code++;
  }
  return codes;
}

export function huffman(text: string): Buffer {
  const digits = [...Buffer.from(text, 'latin1')].map((one) => huffmanCodes[one]).join('');
  const padded = digits.padEnd(Math.ceil(digits.length / 8) * 8, '1');
  return Buffer.from((padded.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)));
}

const staticTable: readonly Field[] = [
  [':authority', ''],
  [':method', 'GET'],
  [':method', 'POST'],
  [':path', '/'],
  [':path', '/index.html'],
  [':scheme', 'http'],
  [':scheme', 'https'],
];
const STATIC_ENTRIES = 61;
const TABLE_BYTES = 4096;

export class HpackEncoder {
  readonly #random: Random;
  #table: Field[] = [];
  #maxSize = TABLE_BYTES;

  constructor(random: Random) {
    this.#random = random;
  }

  block(fields: readonly Field[]): Buffer {
    const parts: Buffer[] = [];
    while (this.#isDrawn(0.15)) {
      this.#maxSize = Math.floor(this.#random.next() * (TABLE_BYTES + 1));
      this.#evict();
      parts.push(integer(this.#maxSize, 5, 0x20));
    }
    for (const field of fields) parts.push(...this.#field(field));
    return Buffer.concat(parts);
  }

  #field([name, value]: Field): Buffer[] {
    const indexes = this.#indexes((entry) => entry[0] === name && entry[1] === value);
    if (indexes.length > 0 && this.#isDrawn(0.7)) return [integer(this.#one(indexes), 7, 0x80)];
    const names = this.#indexes((entry) => entry[0] === name);
    const index = names.length > 0 && this.#isDrawn(0.7) ? this.#one(names) : 0;
    const literalName = index === 0 ? [this.#string(name)] : [];
    const [bits, mark] = this.#one([
      [6, 0x40],
      [4, 0x00],
      [4, 0x10],
    ] as const);
    const parts = [integer(index, bits, mark), ...literalName, this.#string(value)];
    if (mark === 0x40) {
      this.#table.unshift([name, value]);
      this.#evict();
    }
    return parts;
  }

  #string(text: string): Buffer {
    const isHuffman = this.#isDrawn(0.6);
    const bytes = isHuffman ? huffman(text) : Buffer.from(text, 'latin1');
    return Buffer.concat([integer(bytes.length, 7, isHuffman ? 0x80 : 0), bytes]);
  }

  #indexes(matches: (field: Field) => boolean): number[] {
    const found: number[] = [];
    for (const [at, field] of staticTable.entries()) if (matches(field)) found.push(at + 1);
    for (const [at, field] of this.#table.entries())
      if (matches(field)) found.push(at + 1 + STATIC_ENTRIES);
    return found;
  }

  #evict(): void {
    const size = () =>
      this.#table.reduce((sum, [name, value]) => sum + name.length + value.length + 32, 0);
    while (size() > this.#maxSize) this.#table.pop();
  }

  #isDrawn(probability: number): boolean {
    return this.#random.next() < probability;
  }

  #one<T>(list: readonly T[]): T {
    return list[Math.floor(this.#random.next() * list.length)]!;
  }
}

function integer(value: number, bits: number, mark: number): Buffer {
  const limit = 2 ** bits - 1;
  if (value < limit) return Buffer.from([mark | value]);
  const octets = [mark | limit];
  let rest = value - limit;
  for (; rest >= 0x80; rest >>>= 7) octets.push((rest & 0x7f) | 0x80);
  return Buffer.from([...octets, rest]);
}
