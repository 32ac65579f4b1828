import { modelOfKey } from './registry.ts';

type Json = { readonly [name: string]: unknown };

function isMessage(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Set scalars override, messages are merged field by field, lists are concatenated. */
function mergeJson(base: Json, over: Json): Json {
  const merged: Record<string, unknown> = { ...base };
  for (const [name, value] of Object.entries(over)) {
    const known = merged[name];
    if (Array.isArray(known) && Array.isArray(value)) merged[name] = [...known, ...value];
    else if (isMessage(known) && isMessage(value)) merged[name] = mergeJson(known, value);
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
  return model.parse(mergeJson(model.toJson(base) as Json, model.toJson(over) as Json), key);
}
