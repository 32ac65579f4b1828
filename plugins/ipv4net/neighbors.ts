import type { Node } from '#plugins/nodesync/api.ts';

/** A node that is reached, and where. */
export interface Neighbor {
  readonly node: Node;
  /** Plain. */
  readonly address: string;
}

/** What this node knows about the way to others. */
export interface Ways {
  /** Address of this node, plain: nobody else is reached there. */
  readonly own: string;
  /** Where a node is reached, plain; undefined: nowhere yet. */
  addressOf(node: Node): string | undefined;
  /** Why there can be no way to a node, wherever it is; undefined: nothing is against it. */
  obstacle(node: Node): string | undefined;
}

/**
 * The other nodes and to which of them there is a way. Of nodes that give the same address as
 * theirs, the one with the lowest ID has it: two tunnels to one address cannot be.
 */
export class Neighbors {
  readonly #ways: Ways;
  /** Why there can be no way to some. */
  readonly #obstacles = new Map<string, string>();
  readonly #nodes = new Map<string, Neighbor>();
  readonly #byAddress = new Map<string, Set<string>>();

  constructor(ways: Ways) {
    this.#ways = ways;
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
      const sharing = this.#byAddress.get(before.address)!;
      sharing.delete(name);
      for (const other of sharing) affected.add(other);
      if (sharing.size === 0) this.#byAddress.delete(before.address);
    }
    const address = node && this.#ways.addressOf(node);
    // of a node without an address nobody asks for a way
    const obstacle = address === undefined ? undefined : this.#ways.obstacle(node!);
    if (obstacle === undefined) this.#obstacles.delete(name);
    else this.#obstacles.set(name, obstacle);
    if (address !== undefined && obstacle === undefined) {
      this.#nodes.set(name, { node: node!, address });
      const sharing = this.#byAddress.get(address) ?? new Set();
      for (const other of sharing) affected.add(other);
      this.#byAddress.set(address, sharing.add(name));
    }
    return [...affected];
  }

  /** The node by this name, if there is a way to it. */
  reached(name: string): Neighbor | undefined {
    const neighbor = this.#nodes.get(name);
    if (!neighbor || neighbor.address === this.#ways.own) return undefined;
    for (const other of this.#byAddress.get(neighbor.address)!)
      if (this.#nodes.get(other)!.node.id < neighbor.node.id) return undefined;
    return neighbor;
  }

  /** IDs of the nodes to which there is a way, ascending. */
  ids(): number[] {
    const ids: number[] = [];
    for (const name of this.#nodes.keys()) {
      const neighbor = this.reached(name);
      if (neighbor) ids.push(neighbor.node.id);
    }
    return ids.sort((a, b) => a - b);
  }

  /** Why there is no way to a node that has an address; undefined when all is well. */
  conflict(name: string): string | undefined {
    const obstacle = this.#obstacles.get(name);
    if (obstacle !== undefined) return obstacle;
    const neighbor = this.#nodes.get(name);
    if (!neighbor || this.reached(name)) return undefined;
    return neighbor.address === this.#ways.own
      ? `it announces ${neighbor.address}, which is the address of this node`
      : `it announces ${neighbor.address}, which another node has`;
  }
}
