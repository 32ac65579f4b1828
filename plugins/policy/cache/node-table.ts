/** The addresses of the nodes of the cluster, by the labels of their objects. */

import { isDeepStrictEqual } from 'node:util';
import type { Node } from '#kubernetes/models/node.ts';
import { AddressSet } from '../address-set.ts';
import type { LabelSelector } from './label-selector.ts';
import type { Labels } from './labels.ts';

/** Of a Node object. */
export interface PolicyNodeObject {
  /** Empty: unknown, each node has some. */
  readonly labels: Labels;
  /** Without prefix length. */
  readonly addresses: readonly string[];
}

export function policyNodeObject({ label: labels, addresses }: Node): PolicyNodeObject {
  const texts = addresses.map(({ address }) => address);
  return { labels, addresses: texts.filter((text) => !text.includes('/')) };
}

/** By name of the Node object: addresses and networks that the node has beside those of its object. */
export type OwnAddresses = ReadonlyMap<string, readonly string[]>;

interface KnownNode {
  readonly object: PolicyNodeObject | undefined;
  readonly own: readonly string[];
  readonly all: AddressSet;
}

const nothing: Pick<KnownNode, 'object' | 'own'> = { object: undefined, own: [] };

export class NodeTable {
  readonly #nodes = new Map<string, KnownNode>();
  #revision = 0;

  /** Grows with each change. */
  get revision(): number {
    return this.#revision;
  }

  /** @param object undefined: it was deleted. @returns whether it was another one */
  set(name: string, object: PolicyNodeObject | undefined): boolean {
    const { own } = this.#nodes.get(name) ?? nothing;
    return this.#set(name, object, own);
  }

  /** @param own empty: it has no others than those of its object. @returns whether they were others */
  setOwn(name: string, own: readonly string[]): boolean {
    const { object } = this.#nodes.get(name) ?? nothing;
    return this.#set(name, object, own);
  }

  #set(name: string, object: PolicyNodeObject | undefined, own: readonly string[]): boolean {
    const before = this.#nodes.get(name) ?? nothing;
    if (isDeepStrictEqual(before.object, object) && isDeepStrictEqual(before.own, own))
      return false;
    if (object === undefined && own.length === 0) this.#nodes.delete(name);
    else {
      const all = AddressSet.of([...(object?.addresses ?? []), ...own]);
      this.#nodes.set(name, { object, own, all });
    }
    this.#revision++;
    return true;
  }

  ownAddresses(): OwnAddresses {
    return new Map(Array.from(this.#nodes, ([name, { own }]) => [name, own]));
  }

  /** How many Node objects have unknown labels. */
  get unknown(): number {
    return [...this.#nodes.values()].filter(({ object }) => object?.labels.length === 0).length;
  }

  /** @param isDenying nodes whose labels are unknown are among them, also those without an object */
  addressesOf(selector: LabelSelector, isDenying: boolean): AddressSet {
    const selected = [...this.#nodes.values()].filter(({ object }) => {
      const labels = object?.labels ?? [];
      return labels.length === 0 ? isDenying : selector.matches(labels);
    });
    return AddressSet.union(selected.map(({ all }) => all));
  }
}
