/** Protobuf's wire format without the knowledge of a message type. */
import protobuf from 'protobufjs/light.js';
import { InvalidModelError } from './model.ts';

export interface WireField {
  readonly number: number;
  /** undefined: not of a type with a length, thus no message, text or bytes. */
  readonly content: Uint8Array | undefined;
}

const WITH_LENGTH = 2;

/**
 * The fields of a message in their order.
 * @throws InvalidModelError at the first byte that is none
 */
export function* wireFields(bytes: Uint8Array, where: string): Generator<WireField> {
  const reader = protobuf.Reader.create(bytes);
  while (reader.pos < reader.len) yield readField(reader, where);
}

function readField(reader: protobuf.Reader, where: string): WireField {
  try {
    const tag = reader.uint32();
    const number = tag >>> 3;
    if (number === 0) throw new RangeError('field number 0');
    const type = tag & 7;
    if (type === WITH_LENGTH) return { number, content: reader.bytes() };
    reader.skipType(type);
    return { number, content: undefined };
  } catch (cause) {
    throw new InvalidModelError('not a message', { where, cause });
  }
}

/**
 * Fields of a decoded message, and of the messages in it, that its type does not have, or has with
 * another wire type: `tap.field 9`.
 */
export function unknownWireFields(message: object, type: protobuf.Type, path = ''): string[] {
  const raw = (message as { readonly $unknowns?: readonly Uint8Array[] }).$unknowns ?? [];
  const numbers = raw.map((bytes) => protobuf.Reader.create(bytes).uint32() >>> 3);
  const unknown = [...new Set(numbers)].map((number) => `${path}field ${number}`);
  for (const field of type.fieldsArray) {
    const { resolvedType, name } = field;
    if (!(resolvedType instanceof protobuf.Type)) continue;
    const value: unknown = (message as Readonly<Record<string, unknown>>)[name];
    if (Array.isArray(value))
      for (const [index, one] of value.entries())
        unknown.push(...unknownWireFields(one, resolvedType, `${path}${name}[${index}].`));
    else if (typeof value === 'object' && value !== null && !(field instanceof protobuf.MapField))
      unknown.push(...unknownWireFields(value, resolvedType, `${path}${name}.`));
  }
  return unknown;
}
