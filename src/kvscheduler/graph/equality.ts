/**
 * Deep equality of canonical values: plain objects, arrays, byte arrays and scalars. Field order
 * does not matter; a field that is undefined counts as absent.
 */
export function deepEqual(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) {
    return Number.isNaN(a) && Number.isNaN(b);
  }
  if (Array.isArray(a)) return Array.isArray(b) && equalLists(a, b);
  if (Array.isArray(b)) return false;
  if (a instanceof Uint8Array) return b instanceof Uint8Array && equalLists(a, b);
  if (b instanceof Uint8Array) return false;
  return equalFields(a as Fields, b as Fields);
}

type Fields = Readonly<Record<string, unknown>>;

function equalLists(a: ArrayLike<unknown>, b: ArrayLike<unknown>): boolean {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (!deepEqual(a[i], b[i])) return false;
  return true;
}

function equalFields(a: Fields, b: Fields): boolean {
  let present = 0;
  for (const name in a) {
    if (a[name] === undefined) continue;
    present++;
    if (!deepEqual(a[name], b[name])) return false;
  }
  for (const name in b) if (b[name] !== undefined) present--;
  return present === 0;
}
