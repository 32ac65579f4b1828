import type { Node } from '#plugins/nodesync/api.ts';

/** A reachable node with its address. */
export interface ReachableNode {
  readonly node: Node;
  /** Without prefix length. */
  readonly address: string;
}

/** Reachability of other nodes from this node. */
export interface Reachability {
  /** Address of a node without prefix length; undefined: not reachable yet. */
  addressOf(node: Node): string | undefined;
  /** Why a node cannot be reached at any address; undefined: it can. */
  whyUnreachable(node: Node): string | undefined;
  /** Whether a tunnel of VXLAN leads to a node that can be reached. */
  hasTunnel(node: Node): boolean;
}

/**
 * The other nodes, and which of them are reachable. If nodes announce the same address, the one with
 * the lowest ID is reachable, because two tunnels to one address are impossible.
 */
export class ReachableNodes {
  readonly #reachability: Reachability;
  /** Node name to the reason why it cannot be reached. */
  readonly #unreachable = new Map<string, string>();
  readonly #nodes = new Map<string, ReachableNode>();
  readonly #byAddress = new Map<string, Set<string>>();
  /** IDs of the nodes to which tunnels lead by name, and the reverse. */
  readonly #idByName = new Map<string, number>();
  readonly #nameById = new Map<number, string>();
  /** Ascending. */
  readonly #sortedIds: number[] = [];
  /** Their copy; undefined: they have changed since. */
  #ids: readonly number[] | undefined;

  constructor(ways: Reachability) {
    this.#reachability = ways;
  }

  /**
   * Applies a change of a node.
   * @param node undefined: it has left
   * @returns names of the nodes whose reachability may have changed
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
    // a node without an address is not reachable yet, which is no conflict
    const reason = address === undefined ? undefined : this.#reachability.whyUnreachable(node!);
    if (reason === undefined) this.#unreachable.delete(name);
    else this.#unreachable.set(name, reason);
    if (address !== undefined && reason === undefined) {
      this.#nodes.set(name, { node: node!, address });
      const sameAddress = this.#byAddress.get(address) ?? new Set();
      for (const other of sameAddress) affected.add(other);
      this.#byAddress.set(address, sameAddress.add(name));
    }
    for (const one of affected) this.#setId(one, this.#tunnelTo(one));
    return [...affected];
  }

  /** ID of the node to which a tunnel leads. */
  #tunnelTo(name: string): number | undefined {
    const found = this.find(name)?.node;
    return found && this.#reachability.hasTunnel(found) ? found.id : undefined;
  }

  #setId(name: string, id: number | undefined): void {
    const before = this.#idByName.get(name);
    if (before === id) return;
    this.#ids = undefined;
    if (before !== undefined) {
      this.#sortedIds.splice(positionOf(this.#sortedIds, before), 1);
      // another name may have the ID already
      if (this.#nameById.get(before) === name) this.#nameById.delete(before);
    }
    if (id === undefined) this.#idByName.delete(name);
    else {
      this.#idByName.set(name, id);
      this.#nameById.set(id, name);
      this.#sortedIds.splice(positionOf(this.#sortedIds, id), 0, id);
    }
  }

  /** The node with this name, if it is reachable. */
  find(name: string): ReachableNode | undefined {
    const found = this.#nodes.get(name);
    if (!found) return undefined;
    for (const other of this.#byAddress.get(found.address)!)
      if (this.#nodes.get(other)!.node.id < found.node.id) return undefined;
    return found;
  }

  /** Name of the node with this ID to which a tunnel leads. */
  nameOf(id: number): string | undefined {
    return this.#nameById.get(id);
  }

  /** IDs of the nodes to which tunnels lead, ascending; the same list until they change. */
  ids(): readonly number[] {
    this.#ids ??= [...this.#sortedIds];
    return this.#ids;
  }

  /** Why a node with an address is not reachable; undefined if it is. */
  conflict(name: string): string | undefined {
    const reason = this.#unreachable.get(name);
    if (reason !== undefined) return reason;
    const found = this.#nodes.get(name);
    if (!found || this.find(name)) return undefined;
    return `it announces ${found.address}, which another node has, too`;
  }
}

/** The position of a number in an ascending list, or the one at which to insert it. */
function positionOf(list: readonly number[], one: number): number {
  let [from, to] = [0, list.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    if (list[middle]! < one) from = middle + 1;
    else to = middle;
  }
  return from;
}
