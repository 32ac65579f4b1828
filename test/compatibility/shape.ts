/** Shapes of documents: names of fields and types of values, without the values. */

type Shape = string | readonly Shape[] | { readonly [name: string]: Shape };

/** Elements of a list, and values under numbers, have one shape, in which a `?` marks optional fields. */
export function shapeOf(value: unknown): Shape {
  if (value === null) return 'null';
  if (Array.isArray(value)) return value.length === 0 ? [] : [value.map(shapeOf).reduce(merge)];
  if (typeof value !== 'object') return typeof value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  if (entries.length > 0 && entries.every(([name]) => /^[0-9]+$/.test(name)))
    return { '<index>': entries.map(([, each]) => shapeOf(each)).reduce(merge) };
  return Object.fromEntries(entries.map(([name, each]) => [name, shapeOf(each)]));
}

function merge(a: Shape, b: Shape): Shape {
  if (Array.isArray(a) && Array.isArray(b)) {
    const [first, second] = [a[0], b[0]];
    return first === undefined || second === undefined ? [...a, ...b] : [merge(first, second)];
  }
  if (isObject(a) && isObject(b)) return mergeObjects(a, b);
  const texts = new Set([a, b].flatMap((one) => (typeof one === 'string' ? one.split('|') : one)));
  return texts.size === 1 ? a : [...texts].map(String).sort().join('|');
}

function mergeObjects(a: Readonly<Record<string, Shape>>, b: Readonly<Record<string, Shape>>) {
  const plain = (name: string): string => name.replace(/\?$/, '');
  const names = new Set([...Object.keys(a), ...Object.keys(b)].map(plain));
  const merged: Record<string, Shape> = {};
  for (const name of [...names].sort()) {
    const isOptional = !(name in a && name in b);
    const [first, second] = [a[name] ?? a[`${name}?`], b[name] ?? b[`${name}?`]];
    const shape =
      first === undefined || second === undefined ? (first ?? second) : merge(first, second);
    merged[isOptional ? `${name}?` : name] = shape!;
  }
  return merged;
}

function isObject(shape: Shape): shape is Readonly<Record<string, Shape>> {
  return typeof shape === 'object' && !Array.isArray(shape);
}
