/** Who has a name: one owner stands alone, as most do; more stand in a set. */
export type OneOrMany<T> = T | Set<T>;

const nobody: readonly never[] = [];

export function itemsOf<T extends object>(owners: OneOrMany<T> | undefined): Iterable<T> {
  if (owners instanceof Set) return owners;
  return owners === undefined ? nobody : [owners];
}

export function itemCount<T extends object>(owners: OneOrMany<T> | undefined): number {
  if (owners instanceof Set) return owners.size;
  return owners === undefined ? 0 : 1;
}

export function collectItems<T extends object>(
  owners: OneOrMany<T> | undefined,
  found: Set<T>,
): void {
  if (owners instanceof Set) for (const owner of owners) found.add(owner);
  else if (owners !== undefined) found.add(owners);
}

/** @returns whether the name is new */
export function addItem<T extends object>(
  map: Map<string, OneOrMany<T>>,
  name: string,
  owner: T,
): boolean {
  const owners = map.get(name);
  if (owners === undefined) {
    map.set(name, owner);
    return true;
  }
  if (owners instanceof Set) owners.add(owner);
  else if (owners !== owner) map.set(name, new Set([owners, owner]));
  return false;
}

/** @returns whether the name is gone */
export function deleteItem<T extends object>(
  map: Map<string, OneOrMany<T>>,
  name: string,
  owner: T,
): boolean {
  const owners = map.get(name);
  if (owners === owner) return map.delete(name);
  if (!(owners instanceof Set) || !owners.delete(owner)) return false;
  if (owners.size === 1) for (const last of owners) map.set(name, last);
  return false;
}
