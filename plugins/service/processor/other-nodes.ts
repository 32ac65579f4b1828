/**
 * The other nodes by the management addresses through which they are reached, and by those of VPP.
 * Endpoints in the network of a host have a management address, and those of the API server have no node
 * name.
 */
export class OtherNodes {
  readonly #hosts = new NamesByAddress();
  readonly #vpps = new NamesByAddress();

  constructor(nodes: Iterable<OtherNode>) {
    for (const one of nodes) this.set(one);
  }

  /** The node whose host has the address; undefined: none. */
  nameOf(address: string): string | undefined {
    return this.#hosts.nameOf(address);
  }

  /** The node whose host or VPP has the address; undefined: none. */
  ownerOf(address: string): string | undefined {
    return this.#hosts.nameOf(address) ?? this.#vpps.nameOf(address);
  }

  /**
   * Replaces the addresses of a node; without any it is deleted.
   * @returns addresses that the node has got or lost
   */
  set({ name, addresses, vppAddresses }: OtherNode): readonly string[] {
    return [...this.#hosts.set(name, addresses), ...this.#vpps.set(name, vppAddresses)];
  }
}

class NamesByAddress {
  readonly #addresses = new Map<string, readonly string[]>();
  /** By address the nodes that have it, in the order of their names. */
  readonly #names = new Map<string, readonly string[]>();

  nameOf(address: string): string | undefined {
    return this.#names.get(address)?.[0];
  }

  /** @returns addresses that the node has got or lost */
  set(name: string, addresses: readonly string[]): readonly string[] {
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
  /** Addresses of VPP, without prefix length. */
  readonly vppAddresses: readonly string[];
}
