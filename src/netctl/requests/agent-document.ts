/**
 * Documents of agents, which may be of another version, or of the original, in the form of their schemas: what is
 * missing or of another type is empty, and fields that the schema does not have stay.
 */
import type { TSchema } from 'typebox';
import type { DocumentOf } from '#documents/document.ts';

/** The part of JSON Schema that the documents use. */
interface SchemaNode {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, SchemaNode>>;
  readonly required?: readonly string[];
  /** Of an object with any names: there is one pattern. */
  readonly patternProperties?: Readonly<Record<string, SchemaNode>>;
  readonly items?: SchemaNode;
  readonly anyOf?: readonly SchemaNode[];
  readonly enum?: readonly unknown[];
}

type Fields = Readonly<Record<string, unknown>>;

/** @returns undefined: no agent sends it, so another program listens on the port */
export function agentDocument<S extends TSchema>(
  schema: S,
  document: unknown,
): DocumentOf<S> | undefined {
  return isOfAgent(schema, document) ? inForm(schema, document) : undefined;
}

/** The document, or a part of one, in the form of the schema. */
export function inForm<S extends TSchema>(schema: S, document: unknown): DocumentOf<S> {
  return formed(schema, document) as DocumentOf<S>;
}

/** An agent of any version has one of the fields; it may leave out or write as null what is empty. */
function isOfAgent(schema: SchemaNode, document: unknown): boolean {
  const { type, properties, patternProperties, anyOf } = schema;
  if (anyOf) return anyOf.some((one) => isOfAgent(one, document));
  if (type === 'array') return Array.isArray(document) || document === null;
  if (patternProperties)
    return document === null || Object.values(fieldsOf(document) ?? [0]).every(isObject);
  if (properties)
    return Object.keys(properties).some((name) => Object.hasOwn(fieldsOf(document) ?? {}, name));
  return type === undefined || typeof document === type;
}

function formed(schema: SchemaNode, value: unknown): unknown {
  const { type, anyOf } = schema;
  if (anyOf) return formed(choice(anyOf, value), value);
  if (schema.enum) return typeof value === 'string' ? value : '';
  switch (type) {
    case 'object':
      return formedObject(schema, fieldsOf(value) ?? {});
    case 'array':
      return Array.isArray(value) ? value.map((item) => formed(schema.items ?? {}, item)) : [];
    case 'string':
      return typeof value === 'number' || typeof value === 'boolean'
        ? String(value)
        : textOf(value);
    case 'integer':
    case 'number':
      return typeof value === 'number' && Number.isFinite(value) ? value : 0;
    case 'boolean':
      return value === true;
    default:
      return value ?? null;
  }
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function formedObject(
  { properties = {}, required = [], patternProperties = {} }: SchemaNode,
  value: Fields,
): Fields {
  const [pattern] = Object.values(patternProperties);
  const result: Record<string, unknown> = { ...value };
  if (pattern) for (const name of Object.keys(value)) result[name] = formed(pattern, value[name]);
  for (const [name, schema] of Object.entries(properties)) {
    const isThere = value[name] !== undefined && value[name] !== null;
    if (isThere || required.includes(name)) result[name] = formed(schema, value[name]);
    else delete result[name];
  }
  return result;
}

/** Null where it is accepted; else the first alternative of the same kind. */
function choice(alternatives: readonly SchemaNode[], value: unknown): SchemaNode {
  const isNull = value === null || value === undefined;
  const kind = isNull ? 'null' : Array.isArray(value) ? 'array' : typeof value;
  return alternatives.find(({ type }) => type === kind) ?? alternatives[0] ?? {};
}

function fieldsOf(value: unknown): Fields | undefined {
  return isObject(value) && !Array.isArray(value) ? (value as Fields) : undefined;
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
