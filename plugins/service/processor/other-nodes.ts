/**
 * The other nodes by the management addresses through which they are reached. Endpoints in the network
 * of a host have such an address, and those of the API server have no node name.
 */
export class OtherNodes {
  readonly #addresses = new Map<string, readonly string[]>();
  /** By address the nodes that have it, in the order of their names. */
  readonly #names = new Map<string, readonly string[]>();

  constructor(nodes: Iterable<OtherNode>) {
    for (const one of nodes) this.set(one);
  }

  /** undefined: it is not the address of another node. */
  nameOf(address: string): string | undefined {
    return this.#names.get(address)?.[0];
  }

  /**
   * Replaces the addresses of a node; without any it is deleted.
   * @returns addresses that the node has got or lost
   */
  set({ name, addresses }: OtherNode): readonly string[] {
    const before = this.#addresses.get(name) ?? [];
    const added = addresses.filter((one) => !before.includes(one));
    const removed = before.filter((one) => !addresses.includes(one));
    if (addresses.length === 0) this.#addresses.delete(name);
    else this.#addresses.set(name, addresses);
    for (const one of added) this.#names.set(one, [...(this.#names.get(one) ?? []), name].sort());
    for (const one of removed) {
      const rest = this.#names.get(one)?.filter((other) => other !== name) ?? [];
      if (rest.length === 0) this.#names.delete(one);
      else this.#names.set(one, rest);
    }
    return [...added, ...removed];
  }
}

export interface OtherNode {
  readonly name: string;
  /** Management addresses of any family, without prefix length. */
  readonly addresses: readonly string[];
}
