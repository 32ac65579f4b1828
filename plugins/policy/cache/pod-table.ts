/** The pods of the cluster, by name, namespace, label and address. */
import type { AddressNumber } from '../address-set.ts';
import type { PodName } from '../pod-policy.ts';
import { valueTerm } from './labels.ts';
import type { PolicyPod } from './policy-pod.ts';
import type { PodSelector } from './selector-index.ts';

export class PodTable {
  readonly #pods = new Map<PodName, PolicyPod>();
  readonly #byNamespace = new PodIndex<string>();
  readonly #byLabel = new PodIndex<string>();
  readonly #byAddress = new PodIndex<AddressNumber>();

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
  at(address: AddressNumber): Pods {
    return this.#byAddress.of(address);
  }

  inNamespace(namespace: string): Pods {
    return this.#byNamespace.of(namespace);
  }

  /**
   * All pods that the selector can match, and others.
   * @param isInScope whether the selector can match pods of the namespace
   */
  *candidates(
    { pods: { terms, isByValue }, namespaces }: PodSelector,
    isInScope: (namespace: string) => boolean,
  ): Generator<PolicyPod, void, void> {
    const scope = typeof namespaces === 'string' ? this.inNamespace(namespaces) : undefined;
    const labelled = isByValue ? terms.map((term) => this.#byLabel.of(term)) : undefined;
    const count = labelled?.reduce((sum, pods) => sum + sizeOf(pods), 0) ?? Infinity;
    if (labelled !== undefined && count <= (scope === undefined ? Infinity : sizeOf(scope))) {
      for (const pods of labelled) yield* pods;
    } else if (scope !== undefined) {
      yield* scope;
    } else {
      for (const namespace of this.#byNamespace.keys())
        if (isInScope(namespace)) yield* this.inNamespace(namespace);
    }
  }
}

type Pods = ReadonlySet<PolicyPod> | readonly PolicyPod[];

const sizeOf = (pods: Pods): number => ('size' in pods ? pods.size : pods.length);

const noPods: Pods = [];

/** Most addresses and many labels have one pod, for which a set would be large. */
class PodIndex<K> {
  readonly #pods = new Map<K, PolicyPod | Set<PolicyPod>>();

  keys(): Iterable<K> {
    return this.#pods.keys();
  }

  of(key: K): Pods {
    const found = this.#pods.get(key);
    if (found === undefined) return noPods;
    return found instanceof Set ? found : [found];
  }

  add(key: K, pod: PolicyPod): void {
    const others = this.#pods.get(key);
    if (others === undefined) this.#pods.set(key, pod);
    else if (others instanceof Set) others.add(pod);
    else if (others !== pod) this.#pods.set(key, new Set([others, pod]));
  }

  delete(key: K, pod: PolicyPod): void {
    const found = this.#pods.get(key);
    if (found === pod) this.#pods.delete(key);
    if (!(found instanceof Set)) return;
    found.delete(pod);
    if (found.size === 0) this.#pods.delete(key);
  }
}
