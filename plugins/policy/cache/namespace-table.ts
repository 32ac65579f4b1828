/** The labels of namespaces. */
import { unreadableReason } from '#kubernetes/models/closed-policy.ts';
import type { LabelSelector } from './label-selector.ts';
import type { Labels } from './labels.ts';

/** Kubernetes sets it on each namespace. */
const NAME_LABEL = 'kubernetes.io/metadata.name';

export class NamespaceTable {
  /** With the label of the name. */
  readonly #labels = new Map<string, Labels>();

  /** A namespace without a record has only the label of its name. */
  labelsOf(namespace: string): Labels {
    return this.#labels.get(namespace) ?? [{ key: NAME_LABEL, value: namespace }];
  }

  /** A selector by other labels than the name does not match a namespace whose labels cannot be read. */
  isSelected(namespace: string, selector: LabelSelector): boolean {
    const labels = this.labelsOf(namespace);
    const isKnown = unreadableReason(labels) === undefined || selector.needsOnly(NAME_LABEL);
    return isKnown && selector.matches(labels);
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
