/**
 * The two ways in which the original writes messages as JSON. Both omit default values, as the canonical
 * JSON of a model does; they differ in the names of fields, enums and 64-bit integers.
 */
import protobuf from 'protobufjs/light.js';
import type { MessageModel } from '#models/define.ts';
import { laterFields, laterNames } from './later-fields.ts';

type Json = Readonly<Record<string, unknown>>;

interface Dialect {
  nameOf(field: protobuf.Field): string;
  enumValue(type: protobuf.Enum, name: string): unknown;
  /** @param value text of a 64-bit integer */
  longValue(value: string): unknown;
}

const jsonpb: Dialect = {
  nameOf: ({ name }) => lowerCamel(name),
  enumValue: (_type, name) => name,
  longValue: (value) => value,
};

const structs: Dialect = {
  nameOf: ({ name }) => name,
  enumValue: (type, name) => type.values[name] ?? name,
  longValue: Number,
};

type Codec<T extends object> = Pick<MessageModel<T>, 'reflection' | 'toJson'>;

/** As jsonpb writes it: names in lowerCamelCase, enums as their names. */
export function jsonpbOf<T extends object>(model: Codec<T>, value: T): object {
  return convert(model.reflection(), model.toJson(value) as Json, jsonpb);
}

/** As encoding/json writes the generated structs: names of the .proto file, enums as numbers. */
export function structJsonOf<T extends object>(model: Codec<T>, value: T): object {
  return convert(model.reflection(), model.toJson(value) as Json, structs);
}

const longTypes = new Set(['int64', 'uint64', 'sint64', 'fixed64', 'sfixed64']);

function convert(type: protobuf.Type, json: Json, dialect: Dialect): object {
  const converted: Record<string, unknown> = {};
  const later = laterFields.get(fullNameOf(type));
  for (const [name, value] of Object.entries(json)) {
    const field = type.fields[name];
    if (field === undefined) throw new TypeError(`${type.fullName} has no field ${name}`);
    if (later?.has(name)) continue;
    converted[dialect.nameOf(field)] = Array.isArray(value)
      ? value.map((each) => convertOne(field, each, dialect))
      : convertOne(field, value, dialect);
  }
  return converted;
}

function convertOne(field: protobuf.Field, value: unknown, dialect: Dialect): unknown {
  const { resolvedType, type } = field;
  if (resolvedType instanceof protobuf.Enum)
    return dialect.enumValue(resolvedType, knownName(resolvedType, String(value)));
  if (resolvedType instanceof protobuf.Type) return convert(resolvedType, value as Json, dialect);
  return longTypes.has(type) ? dialect.longValue(String(value)) : value;
}

function knownName(type: protobuf.Enum, name: string): string {
  return laterNames.get(fullNameOf(type))?.[name] ?? name;
}

/** Without the dot at its beginning. */
function fullNameOf({ fullName }: protobuf.ReflectionObject): string {
  return fullName.slice(1);
}

function lowerCamel(name: string): string {
  return name.replace(/_+([a-zA-Z0-9]?)/g, (_, letter: string) => letter.toUpperCase());
}
