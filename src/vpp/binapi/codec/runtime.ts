/** What the compiled encoders and decoders call: texts, bytes and checks that are not inlined. */
import { Buffer } from 'node:buffer';
import { FieldError, fieldErrorAt, type PathStep, typeMismatch, withPath } from './field-error.ts';
import type { Writer } from './writer.ts';

/** Where a decoder stands; `position` moves over the variable parts. */
export interface Reader {
  bytes: Buffer;
  view: DataView;
  position: number;
  end: number;
}

/** Refuses names that the definition does not have. */
export function checkNames(value: object, names: ReadonlySet<string>): void {
  for (const name in value) if (!names.has(name)) throw fieldErrorAt(name, 'is not a field');
}

export function checkObject(value: unknown): void {
  if (typeof value !== 'object' || value === null)
    throw new FieldError(value === undefined ? 'is missing (an object)' : 'is not an object');
}

/** Number of names of a value; a name of too many is then looked for. */
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

/** A union of byte arrays: as long as one of its members, the rest is zero. */
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

/** `string x[N]`: VPP wants a NUL at its end, so one byte less for the text. */
export function putText(
  bytes: Buffer,
  position: number,
  value: unknown,
  length: number,
  field: PathStep,
): void {
  if (typeof value !== 'string') throw typeMismatch(field, value, 'a text');
  let at = 0;
  const ascii = Math.min(value.length, length);
  for (; at < ascii; at++) {
    const code = value.charCodeAt(at);
    if (code === 0 || code > 127) break;
    bytes[position + at] = code;
  }
  if (at < value.length) at = checkedText(value, length - 1, field, bytes, position);
  else if (at >= length) throw fieldErrorAt(field, `is longer than ${length - 1} bytes`);
  bytes.fill(0, position + at, position + length);
}

/** The slow way: a text that is long or not ASCII. Gives its length in bytes. */
function checkedText(
  value: string,
  most: number,
  field: PathStep,
  bytes: Buffer,
  position: number,
): number {
  if (value.includes('\0')) throw fieldErrorAt(field, 'contains a NUL');
  if (!value.isWellFormed()) throw fieldErrorAt(field, 'is not well-formed Unicode');
  const length = Buffer.byteLength(value);
  if (length > most) throw fieldErrorAt(field, `is longer than ${most} bytes`);
  bytes.write(value, position, 'utf8');
  return length;
}

/** `string x[]`: gives the position behind it. */
export function putLongText(
  writer: Writer,
  position: number,
  value: unknown,
  field: PathStep,
): number {
  if (typeof value !== 'string') throw typeMismatch(field, value, 'a text');
  const room = value.length * 3;
  writer.ensure(position, 4 + room);
  const length = checkedText(value, room, field, writer.bytes, position + 4);
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

export function isZero(bytes: Buffer, position: number, length: number): boolean {
  for (let i = 0; i < length; i++) if (bytes[position + i] !== 0) return false;
  return true;
}

/** An array whose length the caller does not choose; empty stands for all zero. */
export function checkArray(value: unknown, length: number, field: PathStep): void {
  if (!Array.isArray(value) || (value.length !== length && value.length !== 0))
    throw typeMismatch(field, value, `an array of ${length}`);
}

/** An array with a count: gives its length. A count that is given must be that length. */
export function checkCounted(
  value: unknown,
  isBytes: boolean,
  count: unknown,
  most: number,
  field: PathStep,
  countField: string,
): number {
  if (!(isBytes ? value instanceof Uint8Array : Array.isArray(value)))
    throw typeMismatch(field, value, isBytes ? 'a byte array' : 'an array');
  const { length } = value as unknown[] | Uint8Array;
  if (length > most) throw fieldErrorAt(field, `has ${length} elements, ${most} at most`);
  if (count !== undefined && count !== length)
    throw fieldErrorAt(countField, `${String(count)} is not the length of ${field} (${length})`);
  return length;
}

/** The member of a union that the caller names. */
export function memberOf(value: unknown, names: readonly string[], field: PathStep): string {
  const given = typeof value === 'object' && value !== null ? Object.keys(value) : [];
  const [name] = given;
  if (given.length !== 1 || name === undefined || !names.includes(name))
    throw typeMismatch(field, value, `an object with one of ${names.join(', ')}`);
  return name;
}

export function tooShort(): FieldError {
  return new FieldError('the message ends early');
}

export function tooLong(bytes: number): FieldError {
  return new FieldError(`the message has ${bytes} bytes too many`);
}

export function countTooLarge(field: PathStep, count: number): FieldError {
  return fieldErrorAt(field, `counts ${count}, more than the message holds`);
}

/** A value that decoders share because it is the same in nearly every message. */
export function frozen<T>(values: readonly T[]): readonly T[] {
  return Object.freeze(values.map((value) => Object.freeze(value)));
}
