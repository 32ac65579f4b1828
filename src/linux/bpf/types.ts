import { call, write } from './system-call.ts';

/** Types (BTF) of the keys and values of a map. */
export interface TypeIds {
  readonly file: number;
  readonly key: number;
  readonly value: number;
}

const MAGIC = 0xeb9f;
const VERSION = 1;
const HEADER_LENGTH = 24;
const KIND_INTEGER = 1;
const KIND_ARRAY = 3;

/** A key of 4 bytes, and a value of words of 4 bytes: what the kernel needs to know for maps of sockets. */
export function loadTypes(valueLength: number): TypeIds {
  const strings = Buffer.from('\0u32\0');
  const types = words([
    // 1: an integer of 4 bytes and 32 bits
    ...[1, KIND_INTEGER << 24, 4, 32],
    // 2: an array of these
    ...[0, KIND_ARRAY << 24, 0, 1, 1, valueLength / 4],
  ]);
  const header = words([
    MAGIC | (VERSION << 16),
    HEADER_LENGTH,
    // types, then strings behind them: offset and length of each
    ...[0, types.length],
    ...[types.length, strings.length],
  ]);
  const blob = Buffer.concat([header, types, strings]);
  const attributes = Buffer.alloc(28);
  write(attributes, [
    [0, blob],
    [16, blob.length],
  ]);
  return { file: call('loadTypes', attributes), key: 1, value: 2 };
}

function words(numbers: readonly number[]): Buffer {
  const bytes = Buffer.alloc(4 * numbers.length);
  for (const [at, number] of numbers.entries()) bytes.writeUInt32LE(number, 4 * at);
  return bytes;
}
