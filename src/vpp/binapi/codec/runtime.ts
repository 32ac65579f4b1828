/** Runtime of the compiled encoders and decoders: texts, bytes and checks that are not inlined. */
import { Buffer } from 'node:buffer';
import { FieldError, fieldErrorAt, type PathStep, typeMismatch, withPath } from './field-error.ts';
import type { Writer } from './writer.ts';

/** Input of a decoder; `position` advances over the variable-length parts. */
export interface Reader {
  bytes: Buffer;
  view: DataView;
  position: number;
  end: number;
}

/** Rejects names that the definition does not have. */
export function checkNames(value: object, names: ReadonlySet<string>): void {
  for (const name in value) if (!names.has(name)) throw fieldErrorAt(name, 'is not a field');
}

export function checkObject(value: unknown): void {
  if (typeof value !== 'object' || value === null)
    throw new FieldError(value === undefined ? 'is missing (an object)' : 'is not an object');
}

/** Number of properties of a value; on a mismatch `checkNames` finds the unknown one. */
export function countNames(value: object): number {
  let count = 0;
  for (const _ in value) count++;
  return count;
}

export function putBytes(
  bytes: Buffer,
  position: number,
  value: unknown,
  length: number,
  field: PathStep,
): void {
  if (!(value instanceof Uint8Array) || value.length !== length)
    throw typeMismatch(field, value, `a byte array of ${length}`);
  if (length > 32) bytes.set(value, position);
  else for (let i = 0; i < length; i++) bytes[position + i] = value[i]!;
}

/** Encodes a union of byte arrays: the value has the length of a member, the rest is zero. */
export function putUnionBytes(
  bytes: Buffer,
  position: number,
  value: unknown,
  lengths: readonly number[],
  size: number,
  field: PathStep,
): void {
  if (!(value instanceof Uint8Array) || !lengths.includes(value.length))
    throw typeMismatch(field, value, `a byte array of ${lengths.join(' or ')}`);
  const { length } = value;
  for (let i = 0; i < length; i++) bytes[position + i] = value[i]!;
  for (let i = length; i < size; i++) bytes[position + i] = 0;
}

export function getBytes(bytes: Buffer, position: number, length: number): Uint8Array {
  const value = new Uint8Array(length);
  if (length > 32) value.set(bytes.subarray(position, position + length));
  else for (let i = 0; i < length; i++) value[i] = bytes[position + i]!;
  return value;
}

/** Not `Buffer.fill`, whose checks of its arguments take longer than filling a label stack. */
const { fill } = Uint8Array.prototype;

export function putZeros(bytes: Buffer, position: number, length: number): void {
  fill.call(bytes, 0, position, position + length);
}

/** Encodes `string x[N]`: the last byte is reserved for the terminating NUL. */
export function putText(
  bytes: Buffer,
  position: number,
  value: unknown,
  length: number,
  field: PathStep,
): void {
  if (typeof value !== 'string') throw typeMismatch(field, value, 'a string');
  let at = 0;
  const ascii = Math.min(value.length, length);
  for (; at < ascii; at++) {
    const code = value.charCodeAt(at);
    if (code === 0 || code > 127) break;
    bytes[position + at] = code;
  }
  if (at < value.length) at = checkedText(value, length - 1, field, bytes, position);
  else if (at >= length) throw fieldErrorAt(field, `is longer than ${length - 1} bytes`);
  putZeros(bytes, position + at, length - at);
}

/** Slow path for text that is long or not ASCII. @returns its length in bytes */
function checkedText(
  value: string,
  maxBytes: number,
  field: PathStep,
  bytes: Buffer,
  position: number,
): number {
  if (value.includes('\0')) throw fieldErrorAt(field, 'contains a NUL');
  if (!value.isWellFormed()) throw fieldErrorAt(field, 'is not well-formed Unicode');
  const length = Buffer.byteLength(value);
  if (length > maxBytes) throw fieldErrorAt(field, `is longer than ${maxBytes} bytes`);
  bytes.write(value, position, 'utf8');
  return length;
}

/** Encodes `string x[]`. @returns the position after it */
export function putLongText(
  writer: Writer,
  position: number,
  value: unknown,
  field: PathStep,
): number {
  if (typeof value !== 'string') throw typeMismatch(field, value, 'a string');
  const maxBytes = value.length * 3;
  writer.ensure(position, 4 + maxBytes);
  const length = checkedText(value, maxBytes, field, writer.bytes, position + 4);
  writer.view.setUint32(position, length);
  return position + 4 + length;
}

export function getText(bytes: Buffer, position: number, length: number): string {
  let end = position;
  const last = position + length;
  while (end < last && bytes[end] !== 0) end++;
  return end === position ? '' : bytes.toString('utf8', position, end);
}

export function getLongText(reader: Reader, field: PathStep): string {
  const start = reader.position + 4;
  if (start > reader.end) throw withPath(tooShort(), field);
  const length = reader.view.getUint32(reader.position);
  if (length > reader.end - start) throw countTooLarge(field, length);
  reader.position = start + length;
  return length === 0 ? '' : reader.bytes.toString('utf8', start, start + length);
}

/** Four bytes at a time: byte by byte, the label stack took up to half of the time of a route. */
export function isZero({ bytes, view }: Reader, position: number, length: number): boolean {
  const end = position + length;
  let at = position;
  for (; at + 4 <= end; at += 4) if (view.getUint32(at) !== 0) return false;
  for (; at < end; at++) if (bytes[at] !== 0) return false;
  return true;
}

/** Checks a fixed-length array; an empty one means all zero. */
export function checkArray(value: unknown, length: number, field: PathStep): void {
  if (!Array.isArray(value) || (value.length !== length && value.length !== 0))
    throw typeMismatch(field, value, `an array of ${length}`);
}

/** Checks an array with a count field. A given count must equal its length. @returns its length */
export function checkCounted(
  value: unknown,
  isBytes: boolean,
  count: unknown,
  maxCount: number,
  field: PathStep,
  countField: string,
): number {
  if (!(isBytes ? value instanceof Uint8Array : Array.isArray(value)))
    throw typeMismatch(field, value, isBytes ? 'a byte array' : 'an array');
  const { length } = value as unknown[] | Uint8Array;
  if (length > maxCount)
    throw fieldErrorAt(field, `has ${length} elements, the maximum is ${maxCount}`);
  if (count !== undefined && count !== length)
    throw fieldErrorAt(countField, `${String(count)} is not the length of ${field} (${length})`);
  return length;
}

/** The member of a union that the caller uses. */
export function memberOf(value: unknown, names: readonly string[], field: PathStep): string {
  const given = typeof value === 'object' && value !== null ? Object.keys(value) : [];
  const [name] = given;
  if (given.length !== 1 || name === undefined || !names.includes(name))
    throw typeMismatch(field, value, `an object with one of ${names.join(', ')}`);
  return name;
}

export function tooShort(): FieldError {
  return new FieldError('the message is too short');
}

export function tooLong(bytes: number): FieldError {
  return new FieldError(`the message is ${bytes} bytes too long`);
}

export function countTooLarge(field: PathStep, count: number): FieldError {
  return fieldErrorAt(field, `has count ${count}, which exceeds the message`);
}

/** Freezes a value that decoders share because it is the same in nearly every message. */
export function immutableList<T>(values: readonly T[]): readonly T[] {
  return Object.freeze(values.map((value) => Object.freeze(value)));
}
