import { NamesByAddress } from '#plugins/nodesync/api.ts';

export interface OtherNode {
  readonly name: string;
  /** Addresses of its host at which it is reached, without prefix length. */
  readonly routedAddresses: readonly string[];
  /** All addresses of its host and its VPP, of any family, without prefix length. */
  readonly addresses: readonly string[];
  /** Those at which sockets of this node reach node ports. */
  readonly nodePortAddresses: readonly string[];
}

/** A node that has left. */
export function absentNode(name: string): OtherNode {
  return { name, routedAddresses: [], addresses: [], nodePortAddresses: [] };
}

export interface OtherNodeChange {
  /** That the node has got or lost. */
  readonly addresses: readonly string[];
  /** Nodes that sockets may reach at other addresses than before. */
  readonly nodes: ReadonlySet<string>;
}

/**
 * The other nodes by their addresses. Endpoints in the network of a host have one of it, and those of the API
 * server have no node name.
 */
export class OtherNodes {
  readonly #routed = new NamesByAddress();
  readonly #all = new NamesByAddress();
  readonly #nodePorts = new NamesByAddress();

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

  /** Addresses at which sockets reach node ports of this node alone: what several nodes claim is none of them. */
  nodePortAddressesOf(name: string): readonly string[] {
    const all = this.#nodePorts.addressesOf(name);
    return all.filter((address) => this.#nodePorts.namesOf(address).length === 1);
  }

  /** Replaces the addresses of a node; without any it is deleted. */
  set({ name, routedAddresses, addresses, nodePortAddresses }: OtherNode): OtherNodeChange {
    const asked = this.#nodePorts.set(name, nodePortAddresses);
    return {
      addresses: [...this.#routed.set(name, routedAddresses), ...this.#all.set(name, addresses)],
      nodes: new Set(asked.flatMap((one) => [name, ...this.#nodePorts.namesOf(one)])),
    };
  }
}
