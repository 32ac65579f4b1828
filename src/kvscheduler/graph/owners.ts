/** Who has a name: one owner stands alone, as most do; more stand in a set. */
export type Owners<T> = T | Set<T>;

const nobody: readonly never[] = [];

export function eachOf<T extends object>(owners: Owners<T> | undefined): Iterable<T> {
  if (owners instanceof Set) return owners;
  return owners === undefined ? nobody : [owners];
}

export function countOf<T extends object>(owners: Owners<T> | undefined): number {
  if (owners instanceof Set) return owners.size;
  return owners === undefined ? 0 : 1;
}

export function addAll<T extends object>(owners: Owners<T> | undefined, found: Set<T>): void {
  if (owners instanceof Set) for (const owner of owners) found.add(owner);
  else if (owners !== undefined) found.add(owners);
}

/** @returns whether the name is new */
export function addOwner<T extends object>(
  map: Map<string, Owners<T>>,
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
export function deleteOwner<T extends object>(
  map: Map<string, Owners<T>>,
  name: string,
  owner: T,
): boolean {
  const owners = map.get(name);
  if (owners === owner) return map.delete(name);
  if (!(owners instanceof Set) || !owners.delete(owner)) return false;
  if (owners.size === 1) for (const last of owners) map.set(name, last);
  return false;
}
