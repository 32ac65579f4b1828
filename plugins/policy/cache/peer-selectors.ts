/**
 * The peer selectors that rules in use have. Equal ones are one object. A change of pods or namespaces
 * judges only the addresses that it concerns, and only for selectors that can match their pods.
 */
import type { Slices } from '#infra/clock/slices.ts';
import type { AddressNumber } from '../address-set.ts';
import type { AddressOwners } from './address-owners.ts';
import type { NamespaceTable } from './namespace-table.ts';
import { PeerSelector, type PeerSelectorSpec } from './peer-selector.ts';
import type { PodTable } from './pod-table.ts';
import { SelectorIndex } from './selector-index.ts';

interface Interned {
  readonly selector: PeerSelector;
  users: number;
}

export class PeerSelectors {
  readonly #pods: PodTable;
  readonly #owners: AddressOwners;
  readonly #namespaces: NamespaceTable;
  readonly #interned = new Map<string, Interned>();
  readonly #index: SelectorIndex<PeerSelector>;
  /** Those that pods with unknown labels may concern, too. */
  readonly #denying = new Set<PeerSelector>();

  constructor(pods: PodTable, owners: AddressOwners, namespaces: NamespaceTable) {
    this.#pods = pods;
    this.#owners = owners;
    this.#namespaces = namespaces;
    this.#index = new SelectorIndex(namespaces);
  }

  /** Each call needs one of `release`. */
  async acquire(spec: PeerSelectorSpec, slices: Slices): Promise<PeerSelector> {
    const text = textOf(spec);
    const known = this.#interned.get(text);
    if (known !== undefined) {
      known.users++;
      return known.selector;
    }
    const selector = new PeerSelector(spec, this.#namespaces);
    this.#interned.set(text, { selector, users: 1 });
    this.#index.add(selector);
    if (selector.isDenying) this.#denying.add(selector);
    const isInScope = (namespace: string) => selector.selectsNamespace(namespace);
    const addresses: AddressNumber[] = [];
    for (const pod of this.#pods.candidates(spec, isInScope)) {
      if (selector.selects(pod)) addresses.push(...this.#owners.addressesOf(pod.name));
      if (slices.due()) await slices.turn();
    }
    if (selector.isDenying) addresses.push(...this.#owners.unknown());
    await this.#judge(selector, addresses, slices);
    return selector;
  }

  release(selector: PeerSelector): void {
    const text = textOf(selector);
    const interned = this.#interned.get(text);
    if (interned === undefined || --interned.users > 0) return;
    this.#interned.delete(text);
    this.#index.delete(selector);
    this.#denying.delete(selector);
  }

  /**
   * Applies a change of pods or attachments.
   * @param addresses all that have other owners, or owners with other labels or ports
   * @param apply makes the change
   * @returns selectors that have changed
   */
  async change(
    addresses: Iterable<AddressNumber>,
    apply: () => void,
    slices: Slices,
  ): Promise<Set<PeerSelector>> {
    const all = [...new Set(addresses)];
    const candidates = new Set<PeerSelector>();
    this.#collect(all, candidates);
    apply();
    this.#collect(all, candidates);
    return this.#judgeAll(candidates, all, slices);
  }

  /** Applies a change of the labels of a namespace. @returns selectors that have changed */
  async changeNamespace(
    namespace: string,
    apply: () => void,
    slices: Slices,
  ): Promise<Set<PeerSelector>> {
    const before = new Map<PeerSelector, boolean>();
    for (const { selector } of this.#interned.values())
      if (typeof selector.namespaces !== 'string')
        before.set(selector, selector.selectsNamespace(namespace));
    apply();
    const affected = new Set<PeerSelector>();
    for (const [selector, selected] of before)
      if (selector.selectsNamespace(namespace) !== selected) affected.add(selector);
    if (affected.size === 0) return affected;
    const addresses: AddressNumber[] = [];
    for (const { name } of this.#pods.inNamespace(namespace)) {
      addresses.push(...this.#owners.addressesOf(name));
      if (slices.due()) await slices.turn();
    }
    return this.#judgeAll(affected, addresses, slices);
  }

  #collect(addresses: readonly AddressNumber[], found: Set<PeerSelector>): void {
    for (const address of addresses)
      for (const pod of this.#owners.ownersOf(address)) {
        if (pod !== undefined) this.#index.collect(pod, found);
        if (pod === undefined || !this.#namespaces.isKnown(pod.namespace))
          for (const selector of this.#denying) found.add(selector);
      }
  }

  async #judgeAll(
    selectors: Iterable<PeerSelector>,
    addresses: readonly AddressNumber[],
    slices: Slices,
  ): Promise<Set<PeerSelector>> {
    const changed = new Set<PeerSelector>();
    for (const selector of selectors)
      if (await this.#judge(selector, addresses, slices)) changed.add(selector);
    return changed;
  }

  async #judge(
    selector: PeerSelector,
    addresses: readonly AddressNumber[],
    slices: Slices,
  ): Promise<boolean> {
    for (const address of addresses) {
      selector.judge(address, this.#owners.ownersOf(address));
      if (slices.due()) await slices.turn();
    }
    return selector.apply();
  }
}

function textOf({ pods, namespaces, portNames, isDenying }: PeerSelectorSpec): string {
  const scope = typeof namespaces === 'string' ? `in ${namespaces}` : `of ${namespaces.text}`;
  return `${isDenying} ${pods.text} ${scope} ports ${JSON.stringify(portNames)}`;
}
