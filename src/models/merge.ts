import protobuf from 'protobufjs/light.js';
import { modelOfKey } from './registry.ts';
import { Secret } from './secret.ts';

type Json = { readonly [name: string]: unknown };

function isMessage(value: unknown): value is Json {
  if (value instanceof Secret) return false;
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * Set scalars override, messages are merged field by field, lists are concatenated. A member of a oneof
 * replaces the other members.
 * @param type undefined for a map
 */
function mergeJson(type: protobuf.Type | undefined, base: Json, over: Json): Json {
  const merged: Record<string, unknown> = { ...base };
  for (const [name, value] of Object.entries(over)) {
    const field = type?.fields[name];
    for (const member of field?.partOf?.oneof ?? []) if (member !== name) delete merged[member];
    const known = merged[name];
    const nested = field?.resolvedType instanceof protobuf.Type ? field.resolvedType : undefined;
    if (Array.isArray(known) && Array.isArray(value)) merged[name] = [...known, ...value];
    else if (isMessage(known) && isMessage(value)) merged[name] = mergeJson(nested, known, value);
    else merged[name] = value;
  }
  return merged;
}

/**
 * Merges two values of a key as protobuf merges messages: fields with default values in `over` keep
 * the value of `base`. For a key without a model, `over` replaces `base`.
 */
export function mergeValues(key: string, base: object, over: object): object {
  const model = modelOfKey(key);
  if (model === undefined) return over;
  const [low, high] = [model.toJson(base) as Json, model.toJson(over) as Json];
  return model.parse(mergeJson(model.reflection(), low, high), key);
}
