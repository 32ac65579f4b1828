/** Where two pieces of JSON data differ. */

export interface FieldDifference {
  /** Path of the field, for example `ip_addresses[0]`; empty: the value as a whole. */
  readonly field: string;
  readonly recorded: unknown;
  readonly replayed: unknown;
}

/** The first difference, by the order of the fields; undefined when both are the same. */
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

/** As it would be after it was written down and read again. */
export function asJson<T>(value: T): T {
  const text = JSON.stringify(value);
  return text === undefined ? (undefined as T) : (JSON.parse(text) as T);
}
