/** By address the nodes that have it, in the order of their names. */
export class NamesByAddress {
  readonly #addresses = new Map<string, readonly string[]>();
  readonly #names = new Map<string, string[]>();

  namesOf(address: string): readonly string[] {
    return this.#names.get(address) ?? none;
  }

  addressesOf(name: string): readonly string[] {
    return this.#addresses.get(name) ?? none;
  }

  /**
   * Replaces the addresses of a node; without any it is deleted.
   * @returns addresses that the node has got or lost
   */
  set(name: string, addresses: readonly string[]): readonly string[] {
    const before = this.#addresses.get(name) ?? none;
    const after = [...new Set(addresses)];
    const added = after.filter((one) => !before.includes(one));
    const removed = before.filter((one) => !after.includes(one));
    if (after.length === 0) this.#addresses.delete(name);
    else this.#addresses.set(name, after);
    for (const one of added) {
      const names = this.#names.get(one);
      if (names === undefined) this.#names.set(one, [name]);
      else names.splice(positionOf(names, name), 0, name);
    }
    for (const one of removed) {
      const names = this.#names.get(one)!;
      names.splice(positionOf(names, name), 1);
      if (names.length === 0) this.#names.delete(one);
    }
    return [...added, ...removed];
  }
}

const none: readonly string[] = [];

/** The position of a name in a sorted list, or the one at which to insert it. */
function positionOf(names: readonly string[], name: string): number {
  let [from, to] = [0, names.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    if (names[middle]! < name) from = middle + 1;
    else to = middle;
  }
  return from;
}
