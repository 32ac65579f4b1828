/** The difference of two values, field by field. Pure: it knows only JSON. */

export interface FieldChange {
  /** `ip_addresses[1]`, `tap.version`. */
  readonly path: string;
  readonly kind: 'added' | 'removed' | 'changed';
  /** JSON of the field; undefined: it was not there. */
  readonly before?: string;
  readonly after?: string;
}

export interface ValueDiff {
  readonly changes: readonly FieldChange[];
  /** Number of fields that are equal in both. */
  readonly equal: number;
}

/** Cells of the table in which two lists are aligned; longer lists are compared item by item. */
const MAX_CELLS = 250_000;

/** @param before undefined or null: there was no value; likewise `after` */
export function diffOf(before: unknown, after: unknown): ValueDiff {
  const diff: MutableDiff = { changes: [], equal: 0 };
  compare('', before ?? undefined, after ?? undefined, diff);
  return diff;
}

interface MutableDiff {
  readonly changes: FieldChange[];
  equal: number;
}

function compare(path: string, before: unknown, after: unknown, diff: MutableDiff): void {
  if (Array.isArray(before) && Array.isArray(after)) compareLists(path, before, after, diff);
  else if (isRecord(before) && isRecord(after)) compareRecords(path, before, after, diff);
  else if (before === undefined) addAll(path, after, 'added', diff);
  else if (after === undefined) addAll(path, before, 'removed', diff);
  else if (textOf(before) === textOf(after)) diff.equal++;
  else diff.changes.push({ path, kind: 'changed', before: textOf(before), after: textOf(after) });
}

function compareRecords(
  path: string,
  before: Readonly<Record<string, unknown>>,
  after: Readonly<Record<string, unknown>>,
  diff: MutableDiff,
): void {
  for (const name of new Set([...Object.keys(before), ...Object.keys(after)]))
    compare(path === '' ? name : `${path}.${name}`, before[name], after[name], diff);
}

/** Items that are equal are matched in their order; between them, a removed one is compared with an added one. */
function compareLists(
  path: string,
  before: readonly unknown[],
  after: readonly unknown[],
  diff: MutableDiff,
): void {
  let b = 0;
  let a = 0;
  const matches = [
    ...aligned(before.map(textOf), after.map(textOf)),
    [before.length, after.length],
  ];
  for (const [nextB = 0, nextA = 0] of matches) {
    for (; b < nextB && a < nextA; b++, a++) compare(`${path}[${a}]`, before[b], after[a], diff);
    for (; b < nextB; b++) addAll(`${path}[${b}]`, before[b], 'removed', diff);
    for (; a < nextA; a++) addAll(`${path}[${a}]`, after[a], 'added', diff);
    if (nextB < before.length) diff.equal += leaves(before[nextB]);
    b++;
    a++;
  }
}

/** Pairs of indexes of equal items, ascending: the longest common subsequence. */
function aligned(before: readonly string[], after: readonly string[]): [number, number][] {
  let start = 0;
  while (start < before.length && start < after.length && before[start] === after[start]) start++;
  let end = 0;
  const left = () => Math.min(before.length, after.length) - start - end;
  while (left() > 0 && before.at(-1 - end) === after.at(-1 - end)) end++;
  const first = Array.from({ length: start }, (_, at): [number, number] => [at, at]);
  const last = Array.from({ length: end }, (_, at): [number, number] => [
    before.length - end + at,
    after.length - end + at,
  ]);
  const middle = commonItems(
    before.slice(start, before.length - end),
    after.slice(start, after.length - end),
  );
  return [...first, ...middle.map(([b, a]): [number, number] => [b + start, a + start]), ...last];
}

function commonItems(before: readonly string[], after: readonly string[]): [number, number][] {
  const width = after.length + 1;
  if ((before.length + 1) * width > MAX_CELLS) return samePlaces(before, after);
  /** Lengths of the common subsequences from each pair of indexes on. */
  const lengths = new Uint32Array((before.length + 1) * width);
  for (let b = before.length - 1; b >= 0; b--)
    for (let a = after.length - 1; a >= 0; a--)
      lengths[b * width + a] =
        before[b] === after[a]
          ? lengths[(b + 1) * width + a + 1]! + 1
          : Math.max(lengths[(b + 1) * width + a]!, lengths[b * width + a + 1]!);
  const pairs: [number, number][] = [];
  for (let b = 0, a = 0; b < before.length && a < after.length; ) {
    if (before[b] === after[a]) pairs.push([b++, a++]);
    else if (lengths[(b + 1) * width + a]! >= lengths[b * width + a + 1]!) b++;
    else a++;
  }
  return pairs;
}

function samePlaces(before: readonly string[], after: readonly string[]): [number, number][] {
  return before.flatMap((text, at): [number, number][] => (text === after[at] ? [[at, at]] : []));
}

/** Every field of a value that only one side has. */
function addAll(path: string, value: unknown, kind: 'added' | 'removed', diff: MutableDiff): void {
  const fields = fieldsOf(path, value);
  if (fields) {
    for (const [name, field] of fields) addAll(name, field, kind, diff);
    return;
  }
  if (value === undefined) return;
  const text = textOf(value);
  diff.changes.push(kind === 'added' ? { path, kind, after: text } : { path, kind, before: text });
}

function leaves(value: unknown): number {
  const fields = fieldsOf('', value);
  return fields ? fields.reduce((sum, [, field]) => sum + leaves(field), 0) : 1;
}

/** Fields or items; undefined: the value has none. */
function fieldsOf(path: string, value: unknown): [string, unknown][] | undefined {
  if (Array.isArray(value) && value.length > 0)
    return value.map((item, at) => [`${path}[${at}]`, item]);
  if (!isRecord(value) || Object.keys(value).length === 0) return undefined;
  return Object.entries(value).map(([name, field]) => [
    path === '' ? name : `${path}.${name}`,
    field,
  ]);
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function textOf(value: unknown): string {
  return JSON.stringify(value) ?? '';
}
