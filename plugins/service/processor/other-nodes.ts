import { NamesByAddress } from '#plugins/nodesync/api.ts';

export interface OtherNode {
  readonly name: string;
  /** Addresses of its host at which it is reached, without prefix length. */
  readonly routedAddresses: readonly string[];
  /** All addresses of its host and its VPP, of any family, without prefix length. */
  readonly addresses: readonly string[];
}

/**
 * The other nodes by their addresses. Endpoints in the network of a host have one of it, and those of the API
 * server have no node name.
 */
export class OtherNodes {
  readonly #routed = new NamesByAddress();
  readonly #all = new NamesByAddress();

  constructor(nodes: Iterable<OtherNode>) {
    for (const one of nodes) this.set(one);
  }

  /** The node whose host is reached at the address; undefined: none. */
  nameOf(address: string): string | undefined {
    return this.#routed.namesOf(address)[0];
  }

  /** The node whose host or VPP has the address; undefined: none. */
  ownerOf(address: string): string | undefined {
    return this.#all.namesOf(address)[0];
  }

  /**
   * Replaces the addresses of a node; without any it is deleted.
   * @returns addresses that the node has got or lost
   */
  set({ name, routedAddresses, addresses }: OtherNode): readonly string[] {
    return [...this.#routed.set(name, routedAddresses), ...this.#all.set(name, addresses)];
  }
}
