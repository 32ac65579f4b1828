/** The items of a map entry: a single item without a set, which is the common case, or a set. */
export type OneOrMany<T> = T | Set<T>;

/** The part of a map that `addItem` and `deleteItem` need. */
export interface Entries<N, V> {
  get(name: N): V | undefined;
  set(name: N, value: V): unknown;
  delete(name: N): boolean;
}

const none: readonly never[] = [];

export function itemsOf<T extends object>(items: OneOrMany<T> | undefined): Iterable<T> {
  if (items instanceof Set) return items;
  return items === undefined ? none : [items];
}

export function itemCount<T extends object>(items: OneOrMany<T> | undefined): number {
  if (items instanceof Set) return items.size;
  return items === undefined ? 0 : 1;
}

export function collectItems<T extends object>(
  items: OneOrMany<T> | undefined,
  found: Set<T>,
): void {
  if (items instanceof Set) for (const item of items) found.add(item);
  else if (items !== undefined) found.add(items);
}

export function addItem<N, T extends object>(
  map: Entries<N, OneOrMany<T>>,
  name: N,
  item: T,
): void {
  const items = map.get(name);
  if (items === undefined) {
    map.set(name, item);
  } else if (items instanceof Set) items.add(item);
  else if (items !== item) map.set(name, new Set([items, item]));
}

export function deleteItem<N, T extends object>(
  map: Entries<N, OneOrMany<T>>,
  name: N,
  item: T,
): void {
  const items = map.get(name);
  if (items === item) map.delete(name);
  if (!(items instanceof Set) || !items.delete(item)) return;
  if (items.size === 1) for (const last of items) map.set(name, last);
}
