/** Reads the items of a `rpc.DataRequest`, each on its own: one that is malformed does not affect the others. */
import { isDeepStrictEqual } from 'node:util';
import type { Clock } from '#infra/clock/clock.ts';
import { Slices } from '#infra/clock/slices.ts';
import { type CodedError, defineError } from '#infra/errors/errors.ts';
import { externalKey } from '#models/external-value.ts';
import { InvalidModelError } from '#models/model.ts';
import { type ConfigModel, modelOfType } from '#models/registry.ts';
import { DataRequest } from '#models/rpc/rpc.gen.ts';
import { type WireField, wireFields } from '#models/wire-fields.ts';

export interface ConfigItem {
  /** Its place in the request: `StaticRoutes[3]`, or `ProxyArp`. */
  readonly name: string;
  readonly key: string;
  /** Canonical. */
  readonly value: object;
}

/** An item that is not taken. */
export interface RefusedItem {
  readonly name: string;
  /** undefined: it has none, or it cannot be read. */
  readonly key: string | undefined;
  readonly error: CodedError;
}

export interface ReadRequest {
  /** Each key once. */
  readonly items: readonly ConfigItem[];
  readonly refused: readonly RefusedItem[];
}

export const UnsupportedItemError = defineError({
  name: 'UnsupportedItemError',
  code: 'CV_EXTCONFIG_UNSUPPORTED',
  remedy: 'Leave the item out: external-configuration.md lists the types that this agent has.',
});

export const UnknownItemFieldError = defineError({
  name: 'UnknownItemFieldError',
  code: 'CV_EXTCONFIG_UNKNOWN_FIELD',
  remedy:
    'Leave the field out, or update the agent: the .proto files of its models have all fields.',
});

export const RepeatedItemError = defineError({
  name: 'RepeatedItemError',
  code: 'CV_EXTCONFIG_REPEATED',
  remedy: 'Send one item for each key. The last one of the request is applied.',
});

/** The bytes of an item, and its place in the request. */
interface RawItem {
  readonly name: string;
  readonly typeName: string | undefined;
  readonly content: WireField['content'];
}

/**
 * @param purpose items to delete need only the fields of their keys, and may have unknown ones
 * @throws InvalidModelError if the request as a whole is malformed
 */
export async function readDataRequest(
  bytes: Uint8Array,
  purpose: 'put' | 'delete',
  clock: Clock,
): Promise<ReadRequest> {
  const slices = new Slices(clock);
  const items = new Map<string, ConfigItem>();
  const refused: RefusedItem[] = [];
  for (const raw of rawItems(bytes)) {
    if (slices.due()) await slices.turn();
    const item = readItem(raw, purpose);
    if ('error' in item) {
      refused.push(item);
      continue;
    }
    const earlier = items.get(item.key);
    if (earlier && purpose === 'put' && !isDeepStrictEqual(earlier.value, item.value))
      refused.push(replaced(earlier, item));
    items.set(item.key, item);
  }
  return { items: [...items.values()], refused };
}

function* rawItems(bytes: Uint8Array): Generator<RawItem> {
  const { fieldsById } = DataRequest.reflection();
  const counts = new Map<number, number>();
  const single = new Map<string, RawItem>();
  for (const { number, content } of wireFields(bytes, DataRequest.typeName)) {
    const position = counts.get(number) ?? 0;
    counts.set(number, position + 1);
    const field = fieldsById[number];
    const typeName = field?.resolvedType?.fullName.slice(1);
    if (!field || field.repeated) {
      yield { name: `${field?.name ?? `field ${number}`}[${position}]`, typeName, content };
      continue;
    }
    // Protobuf merges the parts of a field that is not repeated: as if their bytes were one message.
    const before = single.get(field.name)?.content;
    const merged = before && content ? Buffer.concat([before, content]) : content;
    single.set(field.name, { name: field.name, typeName, content: merged });
  }
  yield* single.values();
}

function readItem({ name, typeName, content }: RawItem, purpose: 'put' | 'delete') {
  const model = typeName === undefined ? undefined : modelOfType(typeName);
  if (!model) {
    const error = new UnsupportedItemError('this agent has no items of this type', { where: name });
    return { name, key: undefined, error };
  }
  return content ? decodeItem(name, model, content, purpose) : malformed(name);
}

function decodeItem(
  name: string,
  model: ConfigModel,
  content: Uint8Array,
  purpose: 'put' | 'delete',
): ConfigItem | RefusedItem {
  try {
    const { value, unknownFields } = model.decodeKnownWire(content, name);
    const key = externalKey(model, value, name);
    if (unknownFields.length === 0 || purpose === 'delete') return { name, key, value };
    const text = `this agent does not have ${unknownFields.join(', ')} of ${model.typeName}`;
    return { name, key, error: new UnknownItemFieldError(text, { where: name }) };
  } catch (thrown) {
    if (thrown instanceof InvalidModelError) return { name, key: undefined, error: thrown };
    throw thrown;
  }
}

function malformed(name: string): RefusedItem {
  const error = new InvalidModelError('not a message of this type', { where: name });
  return { name, key: undefined, error };
}

function replaced({ name, key }: ConfigItem, later: ConfigItem): RefusedItem {
  const text = `${later.name} has the same key and another value; the last one counts`;
  return { name, key, error: new RepeatedItemError(text, { where: name }) };
}
