/** The addresses of the nodes of the cluster, by the labels of their objects. */

import { isDeepStrictEqual } from 'node:util';
import type { Node } from '#kubernetes/models/node.ts';
import { type AddressNumber, AddressSet, addressNumber } from '../address-set.ts';
import type { LabelSelector } from './label-selector.ts';
import type { Labels } from './labels.ts';

export interface PolicyNodeObject {
  /** Empty: unknown, each node has some. */
  readonly labels: Labels;
  readonly addresses: readonly AddressNumber[];
}

export function policyNodeObject({ label: labels, addresses }: Node): PolicyNodeObject {
  const numbers = addresses.flatMap(({ address }) => addressNumber(address) ?? []);
  return { labels, addresses: numbers };
}

export class NodeTable {
  readonly #nodes = new Map<string, PolicyNodeObject>();
  #revision = 0;

  /** Grows with each change. */
  get revision(): number {
    return this.#revision;
  }

  /** @param node undefined: it was deleted. @returns whether it was another one */
  set(name: string, node: PolicyNodeObject | undefined): boolean {
    if (isDeepStrictEqual(this.#nodes.get(name), node)) return false;
    if (node === undefined) this.#nodes.delete(name);
    else this.#nodes.set(name, node);
    this.#revision++;
    return true;
  }

  /** How many nodes have unknown labels. */
  get unknown(): number {
    return [...this.#nodes.values()].filter(({ labels }) => labels.length === 0).length;
  }

  /** @param isDenying nodes whose labels are unknown are among them */
  addressesOf(selector: LabelSelector, isDenying: boolean): AddressSet {
    const selected = [...this.#nodes.values()].filter(({ labels }) =>
      labels.length === 0 ? isDenying : selector.matches(labels),
    );
    return AddressSet.ofAddresses(new Set(selected.flatMap(({ addresses }) => addresses)));
  }
}
