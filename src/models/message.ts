/**
 * Protobuf messages: described by reflection, with one canonical form in memory, JSON as written by
 * Go's jsonpb, and protobuf's wire format.
 *
 * Canonical values of the scalar types: numbers up to 32 bits are `number`; 64-bit integers are
 * `number` if they are safe integers, else `bigint` (one form per value, so that equality works);
 * `bytes` is base64 text; an enum is its name; a map is an object with sorted keys.
 */
import protobuf from 'protobufjs/light.js';
import { compileMessage, type MessagePlan } from './compile.ts';
import { FieldError } from './field-error.ts';
import { type DeepInput, InvalidModelError } from './model.ts';
import { bindRules, type Rules } from './rules.ts';
import { revealed } from './secret.ts';
import { unknownWireFields } from './wire-fields.ts';

/** A 64-bit integer: `bigint` only beyond the safe integers. */
export type Int64 = number | bigint;

/** Contents of a `.proto` file; generated. */
export interface ProtoFile {
  /** Path below src/models. */
  readonly name: string;
  readonly imports: readonly ProtoFile[];
  /** Reflection in protobufjs' JSON form: full package path down to the types. */
  readonly nested: Readonly<Record<string, object>>;
}

/** A message type; T is its canonical form. Generated. */
export interface MessageType<T extends object> {
  readonly typeName: string;
  /** The file that declares it. */
  readonly file: ProtoFile;
  /** Never set; carries the type T. */
  readonly canonicalForm?: T;
  /** Resolved on first use. */
  readonly reflection: () => protobuf.Type;
}

/** A unary or streaming method of a service. Generated. */
export interface ServiceMethod<Request extends object, Response extends object> {
  /** `/package.Service/Method` */
  readonly path: string;
  readonly request: MessageType<Request>;
  readonly response: MessageType<Response>;
  readonly requestStream: boolean;
  readonly responseStream: boolean;
}

export interface ParsedMessage<T extends object> {
  readonly value: T;
  readonly unknownFields: readonly string[];
}

export interface MessageCodec<T extends object> {
  readonly typeName: string;
  /** Canonical form of data of unknown shape. @throws InvalidModelError */
  parse(input: unknown, where?: string): T;
  /**
   * The same for data of a writer that may be newer: unknown fields are ignored beside known ones.
   * @returns the value, and the names of the ignored fields
   * @throws InvalidModelError
   */
  parseKnown(input: unknown, where?: string): ParsedMessage<T>;
  /** The same for a typed, possibly incomplete object. @throws InvalidModelError */
  canonical(input: DeepInput<T>, where?: string): T;
  /** JSON as written by Go's jsonpb with OrigName. Secrets are masked. */
  toJson(value: T): unknown;
  /** The same with the texts of secrets: for the datastore. */
  toStored(value: T): unknown;
  /** Protobuf's wire format. Secrets are masked. */
  encodeWire(value: T): Uint8Array;
  /** Unknown fields are ignored, as protobuf requires. @throws InvalidModelError */
  decodeWire(bytes: Uint8Array, where?: string): T;
  /**
   * The same, with the unknown fields by their numbers: `tap.field 9`.
   * @throws InvalidModelError
   */
  decodeKnownWire(bytes: Uint8Array, where?: string): ParsedMessage<T>;
}

const root = new protobuf.Root();
const loaded = new Set<string>();

/** The types of all files are in one root, because files refer to each other by type name. */
function load(file: ProtoFile): void {
  if (loaded.has(file.name)) return;
  loaded.add(file.name);
  for (const imported of file.imports) load(imported);
  root.addJSON(structuredClone(file.nested) as Record<string, protobuf.AnyNestedObject>);
}

export function messageType<T extends object>(file: ProtoFile, typeName: string): MessageType<T> {
  let type: protobuf.Type | undefined;
  return {
    typeName,
    file,
    reflection: () => {
      if (type === undefined) {
        load(file);
        root.resolveAll();
        type = root.lookupType(typeName);
      }
      return type;
    },
  };
}

/**
 * Converts messages of a type between their forms.
 * @param rules canonical spelling of texts and order of lists, by field; see rules.ts
 */
export function messageCodec<T extends object>(
  message: MessageType<T>,
  rules?: Rules<T>,
): MessageCodec<T> {
  let compiled: MessagePlan | undefined;
  const plan = (): MessagePlan => {
    compiled ??= compileMessage(message.reflection(), bindRules(rules));
    return compiled;
  };
  const read = (input: unknown, where?: string, unknown?: string[]): T => {
    try {
      return plan().read(input, unknown) as T;
    } catch (thrown) {
      if (!(thrown instanceof FieldError)) throw thrown;
      const problem = thrown.path === '' ? thrown.reason : `${thrown.path}: ${thrown.reason}`;
      throw new InvalidModelError(problem, { where: where ?? message.typeName, cause: thrown });
    }
  };
  const parse = (input: unknown, where?: string): T => read(input, where);
  return {
    typeName: message.typeName,
    parse,
    parseKnown: (input, where) => {
      const unknownFields: string[] = [];
      const value = read(input, where, unknownFields);
      // no value of a newer writer, but of another kind
      if (unknownFields.length > 0 && Object.keys(plan().write(value)).length === 0)
        throw new InvalidModelError(
          `${unknownFields[0]}: no such field, and no known field is set`,
          {
            where: where ?? message.typeName,
          },
        );
      return { value, unknownFields };
    },
    canonical: parse,
    toJson: (value) => plan().write(value),
    toStored: (value) => revealed(plan().write(value)),
    encodeWire: (value) => {
      const type = message.reflection();
      return type.encode(type.fromObject(plan().write(value) as object)).finish();
    },
    decodeWire: (bytes, where) => parse(plain(message, decode(message, bytes, where)), where),
    decodeKnownWire: (bytes, where) => {
      const reader = protobuf.Reader.create(bytes);
      reader.discardUnknown = false;
      const decoded = decode(message, reader, where);
      const unknownFields = unknownWireFields(decoded, message.reflection());
      return { value: parse(plain(message, decoded), where), unknownFields };
    },
  };
}

function decode<T extends object>(
  message: MessageType<T>,
  bytes: Uint8Array | protobuf.Reader,
  where: string | undefined,
): protobuf.Message {
  try {
    return message.reflection().decode(bytes);
  } catch (cause) {
    throw new InvalidModelError('not a message of this type', {
      where: where ?? message.typeName,
      cause,
    });
  }
}

function plain<T extends object>(message: MessageType<T>, decoded: protobuf.Message): object {
  return message.reflection().toObject(decoded, { enums: String, longs: String, bytes: String });
}
