/** Protobuf's own description of the files that declare the models, made from their reflection. */
import protobuf from 'protobufjs/light.js';
import type {
  DescriptorProto,
  EnumDescriptorProto,
  FieldDescriptorProto,
  FileDescriptorProto,
} from '#models/generic/descriptor.gen.ts';
import type { ProtoFile } from '#models/message.ts';
import type { DeepInput } from '#models/model.ts';

/** Numbers of `FieldDescriptorProto.Type`. */
const types: Readonly<Record<string, number>> = {
  double: 1,
  float: 2,
  int64: 3,
  uint64: 4,
  int32: 5,
  fixed64: 6,
  fixed32: 7,
  bool: 8,
  string: 9,
  bytes: 12,
  uint32: 13,
  sfixed32: 15,
  sfixed64: 16,
  sint32: 17,
  sint64: 18,
};
const MESSAGE = 11;
const ENUM = 14;

/** Numbers of `FieldDescriptorProto.Label`. */
const OPTIONAL = 1;
const REPEATED = 3;

type Input<T> = DeepInput<T>;

/** @param root of the reflection of all files */
export function fileDescriptor(file: ProtoFile, root: protobuf.Root): Input<FileDescriptorProto> {
  const { packageName, names } = declared(file.nested);
  const members = names.map((name) => root.lookup(`${packageName}.${name}`));
  return {
    name: file.name,
    package: packageName,
    dependency: file.imports.map(({ name }) => name),
    message_type: members.filter((member) => member instanceof protobuf.Type).map(message),
    enum_type: members.filter((member) => member instanceof protobuf.Enum).map(enumeration),
    syntax: 'proto3',
  };
}

/** All files that a file imports, directly or not, each once. */
export function importedFiles(file: ProtoFile): readonly ProtoFile[] {
  const found = new Map<string, ProtoFile>();
  const visit = (one: ProtoFile): void => {
    for (const imported of one.imports) {
      if (found.has(imported.name)) continue;
      found.set(imported.name, imported);
      visit(imported);
    }
  };
  visit(file);
  return [...found.values()];
}

type Nested = Readonly<
  Record<string, { readonly nested?: Nested; readonly [name: string]: unknown }>
>;

/** A package is a namespace without fields, values or methods. */
function declared(nested: ProtoFile['nested']): { packageName: string; names: readonly string[] } {
  const path: string[] = [];
  let level = nested as Nested;
  for (;;) {
    const [first, ...others] = Object.entries(level);
    const inner = first?.[1].nested;
    if (!first || !inner || others.length > 0 || Object.keys(first[1]).length > 1) break;
    path.push(first[0]);
    level = inner;
  }
  return { packageName: path.join('.'), names: Object.keys(level) };
}

function message(type: protobuf.Type): Input<DescriptorProto> {
  return {
    name: type.name,
    field: type.fieldsArray.map((field) => describeField(field, type)),
    nested_type: [
      ...type.nestedArray.filter((member) => member instanceof protobuf.Type).map(message),
      ...type.fieldsArray.filter((field) => field instanceof protobuf.MapField).map(mapEntry),
    ],
    enum_type: type.nestedArray
      .filter((member) => member instanceof protobuf.Enum)
      .map(enumeration),
    oneof_decl: type.oneofsArray.map(({ name }) => ({ name })),
  };
}

function describeField(field: protobuf.Field, type: protobuf.Type): Input<FieldDescriptorProto> {
  const { name, id: number, partOf } = field;
  if (field instanceof protobuf.MapField)
    return {
      ...{ name, number, label: REPEATED, type: MESSAGE },
      type_name: `${type.fullName}.${entryName(field)}`,
    };
  return {
    name,
    number,
    label: field.repeated ? REPEATED : OPTIONAL,
    ...typeOf(field),
    ...(partOf && { oneof_index: type.oneofsArray.indexOf(partOf) }),
  };
}

function typeOf({
  type,
  resolvedType,
}: Pick<protobuf.Field, 'type' | 'resolvedType'>): Input<FieldDescriptorProto> {
  if (!resolvedType) return { type: types[type] };
  const isEnum = resolvedType instanceof protobuf.Enum;
  return { type: isEnum ? ENUM : MESSAGE, type_name: resolvedType.fullName };
}

/** The message that protobuf makes of each element of a map. */
function mapEntry(field: protobuf.MapField): Input<DescriptorProto> {
  return {
    name: entryName(field),
    field: [
      { name: 'key', number: 1, label: OPTIONAL, type: types[field.keyType] },
      { name: 'value', number: 2, label: OPTIONAL, ...typeOf(field) },
    ],
    options: { map_entry: true },
  };
}

function entryName({ name }: protobuf.MapField): string {
  const words = name.split('_').map((word) => word.charAt(0).toUpperCase() + word.slice(1));
  return `${words.join('')}Entry`;
}

function enumeration({ name, values }: protobuf.Enum): Input<EnumDescriptorProto> {
  return { name, value: Object.entries(values).map(([each, number]) => ({ name: each, number })) };
}
