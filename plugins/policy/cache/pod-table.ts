/** The pods of the cluster, by name, namespace, label and address. */
import type { AddressNumber } from '../address-set.ts';
import type { PodName } from '../pod-policy.ts';
import type { LabelSelector } from './label-selector.ts';
import { valueTerm } from './labels.ts';
import type { PolicyPod } from './policy-pod.ts';

export class PodTable {
  readonly #pods = new Map<PodName, PolicyPod>();
  readonly #byNamespace = new SetIndex<string>();
  readonly #byLabel = new SetIndex<string>();
  readonly #byAddress = new SetIndex<AddressNumber>();

  get(name: PodName): PolicyPod | undefined {
    return this.#pods.get(name);
  }

  /** @param pod undefined: there is no such pod any more */
  set(name: PodName, pod: PolicyPod | undefined): void {
    const before = this.#pods.get(name);
    if (before !== undefined) {
      this.#byNamespace.delete(before.namespace, before);
      for (const label of before.labels) this.#byLabel.delete(valueTerm(label), before);
      for (const address of before.addresses) this.#byAddress.delete(address, before);
      this.#pods.delete(name);
    }
    if (pod === undefined) return;
    this.#pods.set(name, pod);
    this.#byNamespace.add(pod.namespace, pod);
    for (const label of pod.labels) this.#byLabel.add(valueTerm(label), pod);
    for (const address of pod.addresses) this.#byAddress.add(address, pod);
  }

  /** Pods whose record contains the address. */
  at(address: AddressNumber): ReadonlySet<PolicyPod> {
    return this.#byAddress.of(address);
  }

  inNamespace(namespace: string): ReadonlySet<PolicyPod> {
    return this.#byNamespace.of(namespace);
  }

  /**
   * All pods that the selector can match, and others.
   * @param namespace undefined: of all namespaces
   */
  candidates(selector: LabelSelector, namespace: string | undefined): Iterable<PolicyPod> {
    const all = namespace === undefined ? this.#pods : this.#byNamespace.of(namespace);
    if (selector.terms.length === 0) return all instanceof Map ? all.values() : all;
    const found = selector.terms.map((term) => this.#byLabel.of(term));
    const count = found.reduce((sum, { size }) => sum + size, 0);
    if (!selector.isByValue || count > all.size) return all instanceof Map ? all.values() : all;
    return found.flatMap((pods) => [...pods]);
  }
}

const noPods: ReadonlySet<PolicyPod> = new Set();

class SetIndex<K> {
  readonly #sets = new Map<K, Set<PolicyPod>>();

  of(key: K): ReadonlySet<PolicyPod> {
    return this.#sets.get(key) ?? noPods;
  }

  add(key: K, pod: PolicyPod): void {
    const pods = this.#sets.get(key);
    if (pods === undefined) this.#sets.set(key, new Set([pod]));
    else pods.add(pod);
  }

  delete(key: K, pod: PolicyPod): void {
    const pods = this.#sets.get(key);
    if (pods === undefined) return;
    pods.delete(pod);
    if (pods.size === 0) this.#sets.delete(key);
  }
}
