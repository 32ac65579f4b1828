/** The Huffman code of HPACK (RFC 7541, appendix B), as far as `header-blocks.ts` needs it. */

/** How many codes have each length in bits. The code is canonical: they are consecutive numbers. */
const codesByLength: readonly (readonly [bits: number, codes: number])[] = [
  [5, 10],
  [6, 26],
  [7, 32],
  [8, 6],
  [10, 5],
  [11, 3],
  [12, 2],
  [13, 6],
  [14, 2],
  [15, 3],
  [19, 3],
  [20, 8],
  [21, 13],
  [22, 26],
  [23, 29],
  [24, 12],
  [25, 4],
  [26, 15],
  [27, 19],
  [28, 29],
  [30, 4],
];

const MAX_BITS = 30;
const END_OF_STRING = 2 ** MAX_BITS - 1;
const SLASH_BITS = 6;
const SLASH = 0x18;
const UNDERSCORE = 0x22;

/** For each length in bits, the number that is above all codes of this length. */
const limits: readonly { readonly bits: number; readonly limit: number }[] = limitsOf();

function limitsOf() {
  let limit = 0;
  let before = 0;
  return codesByLength.map(([bits, codes]) => {
    limit = limit * 2 ** (bits - before) + codes;
    before = bits;
    return { bits, limit };
  });
}

/**
 * @param replaceSlashes by underscores, in place
 * @returns the number of characters; undefined for a malformed string
 */
export function walkHuffman(bytes: Buffer, replaceSlashes: boolean): number | undefined {
  const end = bytes.length * 8;
  let length = 0;
  for (let at = 0; at < end; length++) {
    const window = bitsAt(bytes, at);
    const { bits } = limits.find((one) => window >>> (MAX_BITS - one.bits) < one.limit)!;
    // The rest of the last byte is filled with the first bits of the end of string.
    if (bits > end - at) return window === END_OF_STRING && end - at < 8 ? length : undefined;
    if (window === END_OF_STRING) return undefined;
    if (replaceSlashes && bits === SLASH_BITS && window >>> (MAX_BITS - bits) === SLASH)
      flip(bytes, at, SLASH ^ UNDERSCORE);
    at += bits;
  }
  return length;
}

/** The next 30 bits; beyond the end they are 1. */
function bitsAt(bytes: Buffer, at: number): number {
  const index = at >>> 3;
  let value = 0;
  for (let offset = 0; offset < 5; offset++) value = value * 256 + (bytes[index + offset] ?? 0xff);
  return Math.floor(value / 2 ** (40 - MAX_BITS - (at & 7))) % 2 ** MAX_BITS;
}

/** Inverts bits of the 6-bit code at this position, which may extend into the next byte. */
function flip(bytes: Buffer, at: number, bits: number): void {
  const index = at >>> 3;
  const mask = bits << (16 - SLASH_BITS - (at & 7));
  bytes[index]! ^= mask >>> 8;
  if (mask & 0xff) bytes[index + 1]! ^= mask & 0xff;
}
