import type { Node } from '#plugins/nodesync/api.ts';

/** A node that is reached, and where. */
export interface ReachableNode {
  readonly node: Node;
  /** Plain. */
  readonly address: string;
}

/** What this node knows about the way to others. */
export interface Reachability {
  /** Address of this node, plain: nobody else is reached there. */
  readonly ownAddress: string;
  /** Where a node is reached, plain; undefined: nowhere yet. */
  addressOf(node: Node): string | undefined;
  /** Why there can be no way to a node, wherever it is; undefined: nothing is against it. */
  whyUnreachable(node: Node): string | undefined;
}

/**
 * The other nodes and to which of them there is a way. Of nodes that give the same address as
 * theirs, the one with the lowest ID has it: two tunnels to one address cannot be.
 */
export class ReachableNodes {
  readonly #reachability: Reachability;
  /** Why there can be no way to some. */
  readonly #unreachable = new Map<string, string>();
  readonly #nodes = new Map<string, ReachableNode>();
  readonly #byAddress = new Map<string, Set<string>>();

  constructor(ways: Reachability) {
    this.#reachability = ways;
  }

  /**
   * Takes in what a node is now.
   * @param node undefined: it has left
   * @returns names of the nodes to which the way may have changed
   */
  set(name: string, node: Node | undefined): string[] {
    const affected = new Set([name]);
    const before = this.#nodes.get(name);
    this.#nodes.delete(name);
    if (before) {
      const sameAddress = this.#byAddress.get(before.address)!;
      sameAddress.delete(name);
      for (const other of sameAddress) affected.add(other);
      if (sameAddress.size === 0) this.#byAddress.delete(before.address);
    }
    const address = node && this.#reachability.addressOf(node);
    // of a node without an address nobody asks for a way
    const obstacle = address === undefined ? undefined : this.#reachability.whyUnreachable(node!);
    if (obstacle === undefined) this.#unreachable.delete(name);
    else this.#unreachable.set(name, obstacle);
    if (address !== undefined && obstacle === undefined) {
      this.#nodes.set(name, { node: node!, address });
      const sameAddress = this.#byAddress.get(address) ?? new Set();
      for (const other of sameAddress) affected.add(other);
      this.#byAddress.set(address, sameAddress.add(name));
    }
    return [...affected];
  }

  /** The node by this name, if there is a way to it. */
  find(name: string): ReachableNode | undefined {
    const found = this.#nodes.get(name);
    if (!found || found.address === this.#reachability.ownAddress) return undefined;
    for (const other of this.#byAddress.get(found.address)!)
      if (this.#nodes.get(other)!.node.id < found.node.id) return undefined;
    return found;
  }

  /** IDs of the nodes to which there is a way, ascending. */
  ids(): number[] {
    const ids: number[] = [];
    for (const name of this.#nodes.keys()) {
      const found = this.find(name);
      if (found) ids.push(found.node.id);
    }
    return ids.sort((a, b) => a - b);
  }

  /** Why there is no way to a node that has an address; undefined when all is well. */
  conflict(name: string): string | undefined {
    const obstacle = this.#unreachable.get(name);
    if (obstacle !== undefined) return obstacle;
    const found = this.#nodes.get(name);
    if (!found || this.find(name)) return undefined;
    return found.address === this.#reachability.ownAddress
      ? `it announces ${found.address}, which is the address of this node`
      : `it announces ${found.address}, which another node has`;
  }
}
