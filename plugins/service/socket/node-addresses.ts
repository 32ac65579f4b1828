/** Addresses of the nodes as values of the kernel: sockets of this node reach node ports there. */
import { socketNodeAddressModel } from '#models/linux/socket-node-address.ts';
import { type KeyValue, keyValue } from '#plugins/controller/api/key-value.ts';
import { askedAddresses, type LocalNode } from '../processor/local-node.ts';

export interface AddressedNode {
  readonly name: string;
  /** Of any family, without prefix length. */
  readonly addresses: readonly string[];
}

/** Changes with the addresses of this node. */
export class NodeAddresses {
  readonly #own: ReadonlySet<string>;
  readonly #families: LocalNode['families'];

  constructor(node: Pick<LocalNode, 'addresses' | 'families'>) {
    this.#own = new Set(askedAddresses(node));
    this.#families = node.families;
  }

  /** Of any node. An address of this node is its own, even if another node has it, too. */
  valuesOf({ addresses }: AddressedNode): KeyValue[] {
    return askedAddresses({ addresses, families: this.#families }).map((address) =>
      keyValue(socketNodeAddressModel, { address, is_local: this.#own.has(address) }),
    );
  }
}
