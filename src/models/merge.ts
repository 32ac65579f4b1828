import { modelOfKey } from './registry.ts';

type Json = { readonly [name: string]: unknown };

function isMessage(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Scalars that are set win, messages merge field by field, lists are joined. */
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
 * Lays one value of a key over another as protobuf merges messages: what `over` leaves at its
 * default stays as `base` has it. For a key of no model the later value stands alone.
 */
export function mergeValues(key: string, base: object, over: object): object {
  const model = modelOfKey(key);
  if (model === undefined) return over;
  return model.parse(mergeJson(model.toJson(base) as Json, model.toJson(over) as Json), key);
}
