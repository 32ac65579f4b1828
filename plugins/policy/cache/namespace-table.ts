/** The labels of namespaces. */
import { unreadableReason } from '#kubernetes/models/closed-policy.ts';
import type { LabelSelector } from './label-selector.ts';
import type { Labels } from './labels.ts';

/** Kubernetes sets it on each namespace. */
const NAME_LABEL = 'kubernetes.io/metadata.name';

export type Selection = 'selected' | 'none' | 'unknown';

export class NamespaceTable {
  /** With the label of the name. */
  readonly #labels = new Map<string, Labels>();

  /** Of a namespace without a record that of its name is known. */
  labelsOf(namespace: string): Labels {
    return this.#labels.get(namespace) ?? [{ key: NAME_LABEL, value: namespace }];
  }

  /**
   * Unknown by other labels than the name, if the labels of the namespace cannot be read, or there is no record: each namespace
   * with pods has an object, whose record may come after those of the pods.
   */
  selection(namespace: string, selector: LabelSelector): Selection {
    if (!this.isKnown(namespace) && !selector.needsOnly(NAME_LABEL)) return 'unknown';
    return selector.matches(this.labelsOf(namespace)) ? 'selected' : 'none';
  }

  isKnown(namespace: string): boolean {
    const labels = this.#labels.get(namespace);
    return labels !== undefined && unreadableReason(labels) === undefined;
  }

  /** @param labels undefined: there is no record any more */
  set(namespace: string, labels: Labels | undefined): void {
    if (labels === undefined) {
      this.#labels.delete(namespace);
      return;
    }
    const others = labels.filter(({ key }) => key !== NAME_LABEL);
    this.#labels.set(namespace, [{ key: NAME_LABEL, value: namespace }, ...others]);
  }
}
