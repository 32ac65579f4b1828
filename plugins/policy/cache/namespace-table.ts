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

  /** A namespace without a record has only the label of its name. */
  labelsOf(namespace: string): Labels {
    return this.#labels.get(namespace) ?? [{ key: NAME_LABEL, value: namespace }];
  }

  /** Unknown by other labels than the name, if the labels of the namespace cannot be read. */
  selection(namespace: string, selector: LabelSelector): Selection {
    if (!this.isReadable(namespace) && !selector.needsOnly(NAME_LABEL)) return 'unknown';
    return selector.matches(this.labelsOf(namespace)) ? 'selected' : 'none';
  }

  /**
   * Of a namespace that has pods, and thus an object: without its record, which may come after those of the pods, its labels are
   * unknown.
   */
  selectionOfSubject(namespace: string, selector: LabelSelector): Selection {
    const isKnown = this.#labels.has(namespace) || selector.needsOnly(NAME_LABEL);
    return isKnown ? this.selection(namespace, selector) : 'unknown';
  }

  isReadable(namespace: string): boolean {
    return unreadableReason(this.labelsOf(namespace)) === undefined;
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
