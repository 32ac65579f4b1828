/** The first difference between two JSON values. */

export interface FieldDifference {
  /** Path of the field, for example `ip_addresses[0]`; empty: the whole value. */
  readonly field: string;
  readonly recorded: unknown;
  readonly replayed: unknown;
}

/** The first difference, in the order of the fields; undefined if the values are equal. */
export function firstDifference(
  recorded: unknown,
  replayed: unknown,
  field = '',
): FieldDifference | undefined {
  if (Object.is(recorded, replayed)) return undefined;
  if (Array.isArray(recorded) && Array.isArray(replayed)) {
    const length = Math.max(recorded.length, replayed.length);
    for (let at = 0; at < length; at++) {
      const found = firstDifference(recorded[at], replayed[at], `${field}[${at}]`);
      if (found) return found;
    }
    return undefined;
  }
  if (!isRecord(recorded) || !isRecord(replayed)) return { field, recorded, replayed };
  for (const name of new Set([...Object.keys(recorded), ...Object.keys(replayed)])) {
    const path = field === '' ? name : `${field}.${name}`;
    const found = firstDifference(recorded[name], replayed[name], path);
    if (found) return found;
  }
  return undefined;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The value after it was serialized and parsed. */
export function asJson<T>(value: T): T {
  const text = JSON.stringify(value);
  return text === undefined ? (undefined as T) : (JSON.parse(text) as T);
}
