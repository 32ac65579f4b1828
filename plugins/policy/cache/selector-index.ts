/**
 * Finds the selectors that can match a pod: by a label that they require, else by their scope. What it
 * finds must still be matched.
 */
import type { LabelSelector } from './label-selector.ts';
import { labelTerms } from './labels.ts';
import type { NamespaceTable } from './namespace-table.ts';
import type { PolicyPod } from './policy-pod.ts';

/** The name of a namespace, or a selector of namespaces. */
export type NamespaceScope = string | LabelSelector;

export interface PodSelector {
  readonly pods: LabelSelector;
  readonly namespaces: NamespaceScope;
}

export class SelectorIndex<T extends PodSelector> {
  readonly #namespaces: NamespaceTable;
  readonly #buckets = new Map<string, Set<T>>();

  constructor(namespaces: NamespaceTable) {
    this.#namespaces = namespaces;
  }

  add(selector: T): void {
    for (const key of bucketsOf(selector)) {
      const bucket = this.#buckets.get(key);
      if (bucket === undefined) this.#buckets.set(key, new Set([selector]));
      else bucket.add(selector);
    }
  }

  delete(selector: T): void {
    for (const key of bucketsOf(selector)) {
      const bucket = this.#buckets.get(key);
      bucket?.delete(selector);
      if (bucket?.size === 0) this.#buckets.delete(key);
    }
  }

  /** Adds to `found` all selectors that can match the pod. */
  collect(pod: PolicyPod, found: Set<T>): void {
    const own = `${pod.namespace}/`;
    this.#collect('/', found);
    this.#collect(own, found);
    for (const term of labelTerms(pod.labels)) {
      this.#collect(`/${term}`, found);
      this.#collect(own + term, found);
    }
    for (const term of labelTerms(this.#namespaces.labelsOf(pod.namespace)))
      this.#collect(`@${term}`, found);
  }

  #collect(key: string, found: Set<T>): void {
    for (const selector of this.#buckets.get(key) ?? []) found.add(selector);
  }
}

/** `<namespace>/<term>`, of all namespaces `/<term>`, by the label of a namespace `@<term>`. */
function bucketsOf({ pods, namespaces }: PodSelector): string[] {
  const scope = typeof namespaces === 'string' ? `${namespaces}/` : '/';
  if (pods.terms.length > 0) return pods.terms.map((term) => scope + term);
  if (typeof namespaces === 'string' || namespaces.terms.length === 0) return [scope];
  return namespaces.terms.map((term) => `@${term}`);
}
