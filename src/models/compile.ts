/**
 * Compiles the reflection of a message type to functions that convert data of unknown shape to the
 * canonical form, and the canonical form to JSON. Closures over a list of fields, for speed: a resync
 * reads 100,000 values.
 */
import protobuf from 'protobufjs/light.js';
import { describe, FieldError, withPath } from './field-error.ts';
import type { BoundRules } from './rules.ts';
import { type ScalarCodec, scalarCodec, secret } from './scalars.ts';

export interface MessagePlan {
  /**
   * @param unknown collects the names of unknown fields; undefined: they are an error
   * @throws FieldProblem
   */
  read(input: unknown, unknown?: string[]): object;
  write(value: object): object;
}

interface FieldPlan {
  readonly name: string;
  /** Index among the fields of the message. */
  readonly index: number;
  /** Value of an unset field; undefined: the field is absent. */
  readonly unset: unknown;
  readonly oneof: string | undefined;
  read(input: unknown, unknown: string[] | undefined): unknown;
  /** Undefined if jsonpb omits the field. */
  write(value: unknown): unknown;
}

const emptyList: readonly unknown[] = Object.freeze([]);
const emptyMap: object = Object.freeze({});

export function compileMessage(type: protobuf.Type, rules: BoundRules): MessagePlan {
  return compile(type, rules, new Map());
}

/** Plans of enclosing messages: a message may contain itself. */
type Ancestors = Map<protobuf.Type, MessagePlan>;

function compile(type: protobuf.Type, rules: BoundRules, under: Ancestors): MessagePlan {
  const fields: FieldPlan[] = [];
  const byName = new Map<string, FieldPlan>();
  const empty = messageFactory();
  const plan: MessagePlan = {
    read: (input, unknown) => readMessage(fields, byName, empty, input, unknown),
    write: (value) => writeMessage(fields, value as Readonly<Record<string, unknown>>),
  };
  const inside = new Map(under).set(type, plan);
  for (const field of type.fieldsArray) {
    const fieldPlan = compileField(field, fields.length, rules.field(field.name), inside);
    fields.push(fieldPlan);
    byName.set(field.name, fieldPlan);
    byName.set(lowerCamel(field), fieldPlan);
  }
  return plan;
}

function lowerCamel(field: protobuf.Field): string {
  const given: unknown = field.options?.['json_name'];
  if (typeof given === 'string') return given;
  return field.name.replace(/_+([a-zA-Z0-9]?)/g, (_, letter: string) => letter.toUpperCase());
}

/**
 * Makes plain objects for which V8 reserves as many fields as the messages of one type have. They are up to a third
 * smaller than object literals, and an agent has a million of them in a large cluster.
 */
function messageFactory(): () => Record<string, unknown> {
  function Message(): void {}
  Message.prototype = Object.prototype;
  return () => new (Message as unknown as new () => Record<string, unknown>)();
}

function readMessage(
  fields: readonly FieldPlan[],
  byName: ReadonlyMap<string, FieldPlan>,
  empty: () => Record<string, unknown>,
  input: unknown,
  unknown: string[] | undefined,
): object {
  if (typeof input !== 'object' || input === null || Array.isArray(input)) {
    throw new FieldError(`expected an object, found ${describe(input)}`);
  }
  const given: unknown[] = new Array(fields.length).fill(undefined);
  let oneofs: Map<string, string> | undefined;
  for (const name of Object.keys(input)) {
    const value = (input as Readonly<Record<string, unknown>>)[name];
    const field = byName.get(name);
    if (field === undefined) {
      if (unknown === undefined) throw new FieldError('no such field', name);
      unknown.push(name);
      continue;
    }
    if (value === undefined || value === null) continue;
    if (given[field.index] !== undefined) throw new FieldError('given twice', field.name);
    given[field.index] = value;
    if (field.oneof !== undefined) {
      oneofs ??= new Map();
      const other = oneofs.get(field.oneof);
      if (other !== undefined) {
        throw new FieldError(`only one of ${other} and ${field.name} may be set`, field.name);
      }
      oneofs.set(field.oneof, field.name);
    }
  }
  const message = empty();
  for (const field of fields) {
    const value = given[field.index];
    if (value === undefined) {
      if (field.unset !== undefined) message[field.name] = field.unset;
      continue;
    }
    try {
      message[field.name] = field.read(value, unknown);
    } catch (thrown) {
      throw withPath(field.name, thrown);
    }
  }
  return Object.freeze(message);
}

function writeMessage(
  fields: readonly FieldPlan[],
  value: Readonly<Record<string, unknown>>,
): object {
  const json: Record<string, unknown> = {};
  for (const field of fields) {
    const fieldValue = value[field.name];
    if (fieldValue === undefined) continue;
    const written = field.write(fieldValue);
    if (written !== undefined) json[field.name] = written;
  }
  return json;
}

function compileField(
  field: protobuf.Field,
  index: number,
  rules: BoundRules,
  under: Ancestors,
): FieldPlan {
  const named = { name: field.name, index };
  const kind = fieldCodec(field, rules, under);
  if (field instanceof protobuf.MapField) {
    return {
      ...named,
      unset: emptyMap,
      oneof: undefined,
      read: (input, unknown) => readMap(scalarCodec(field.keyType), kind, input, unknown),
      write: (value) => writeMap(kind, value as Readonly<Record<string, unknown>>),
    };
  }
  if (field.repeated) {
    return {
      ...named,
      unset: emptyList,
      oneof: undefined,
      read: (input, unknown) => readList(kind, rules.sortKey, input, unknown),
      write: (value) => {
        const list = value as readonly unknown[];
        return list.length === 0 ? undefined : list.map(kind.write);
      },
    };
  }
  // proto3 `optional` is a oneof with one field; the name of the oneof begins with an underscore
  const explicit = field.partOf !== null && field.partOf !== undefined;
  if (explicit || kind.zero === undefined) {
    return {
      ...named,
      unset: undefined,
      oneof: field.partOf?.name,
      read: kind.read,
      write: kind.write,
    };
  }
  return {
    ...named,
    unset: kind.zero,
    oneof: undefined,
    read: kind.read,
    write: (value) => (value === kind.zero ? undefined : kind.write(value)),
  };
}

/** Codec for one value of the field's type; messages have no zero value. */
function fieldCodec(field: protobuf.Field, rules: BoundRules, under: Ancestors): ScalarCodec {
  const resolved = field.resolvedType;
  if (resolved instanceof protobuf.Enum) return enumCodec(resolved);
  if (resolved instanceof protobuf.Type) {
    const nested = under.get(resolved) ?? compile(resolved, rules, under);
    return { zero: undefined, read: nested.read, write: (value) => nested.write(value as object) };
  }
  if (field.options?.['debug_redact'] === true) return secret;
  const scalar = scalarCodec(field.type);
  const text = rules.text;
  if (text === undefined) return scalar;
  return {
    ...scalar,
    read: (input) => {
      const value = scalar.read(input) as string;
      return value === '' ? value : text(value);
    },
  };
}

function enumCodec(type: protobuf.Enum): ScalarCodec {
  const names = new Map<number, string>();
  for (const [name, number] of Object.entries(type.values)) {
    if (!names.has(number)) names.set(number, name);
  }
  return {
    zero: names.get(0),
    read: (input) => {
      const number = typeof input === 'string' ? type.values[input] : input;
      const name = typeof number === 'number' ? names.get(number) : undefined;
      if (name === undefined || (typeof input === 'string' && !Object.hasOwn(type.values, input))) {
        const known = Object.keys(type.values).join(', ');
        throw new FieldError(`${describe(input)} is not one of ${known}`);
      }
      return name;
    },
    write: (value) => value,
  };
}

function readList(
  kind: ScalarCodec,
  sortKey: ((element: never) => string | number) | undefined,
  input: unknown,
  unknown: string[] | undefined,
): readonly unknown[] {
  if (!Array.isArray(input)) throw new FieldError(`expected a list, found ${describe(input)}`);
  if (input.length === 0) return emptyList;
  // of this length, because V8 reserves memory for 17 elements in a list that grows, and the list is kept
  const list: unknown[] = new Array(input.length);
  for (const [position, element] of input.entries()) {
    try {
      list[position] = kind.read(element, unknown);
    } catch (thrown) {
      throw withPath(`[${position}]`, thrown);
    }
  }
  return Object.freeze(sortKey === undefined ? list : sortedBy(list, sortKey, kind));
}

/**
 * Elements with equal sort keys are ordered by their JSON, so that the result is unique. Each key is computed once: for
 * thousands of elements that is most of the work.
 */
function sortedBy(
  list: readonly unknown[],
  sortKey: (element: never) => string | number,
  kind: ScalarCodec,
): unknown[] {
  const keyed = list.map((element) => ({ element, key: sortKey(element as never) }));
  keyed.sort((a, b) => {
    if (a.key !== b.key) return a.key < b.key ? -1 : 1;
    const textA = JSON.stringify(kind.write(a.element));
    const textB = JSON.stringify(kind.write(b.element));
    if (textA === textB) return 0;
    return textA < textB ? -1 : 1;
  });
  return keyed.map(({ element }) => element);
}

function readMap(
  keys: ScalarCodec,
  kind: ScalarCodec,
  input: unknown,
  unknown: string[] | undefined,
): object {
  if (typeof input !== 'object' || input === null || Array.isArray(input)) {
    throw new FieldError(`expected an object, found ${describe(input)}`);
  }
  const entries: [string, unknown][] = [];
  for (const [key, value] of Object.entries(input)) {
    if (value === undefined) continue;
    try {
      entries.push([String(keys.readKey?.(key) ?? keys.read(key)), kind.read(value, unknown)]);
    } catch (thrown) {
      throw withPath(`[${describe(key)}]`, thrown);
    }
  }
  if (entries.length === 0) return emptyMap;
  entries.sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.freeze(Object.fromEntries(entries));
}

function writeMap(kind: ScalarCodec, value: Readonly<Record<string, unknown>>): object | undefined {
  const entries = Object.entries(value);
  if (entries.length === 0) return undefined;
  return Object.fromEntries(entries.map(([key, fieldValue]) => [key, kind.write(fieldValue)]));
}
