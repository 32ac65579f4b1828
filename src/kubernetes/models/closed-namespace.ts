/**
 * Namespaces that cannot be read. Policies would keep the labels of the record before, which may permit what the ones now
 * do not, so such a namespace has none: a selector that requires or excludes another label than its name does not match it.
 */
import { unreadableLabel, unreadableReason } from './closed-policy.ts';
import { type Namespace, namespaceModel } from './namespace.ts';

export const closedNamespaces = {
  value({ name }: { readonly name: string }, reason: string): Namespace {
    return namespaceModel.canonical({ name, label: unreadableLabel([reason]) });
  },

  /** A newer writer does not restrict by a field what a namespace may do. */
  isReadable(): boolean {
    return true;
  },

  unreadableParts({ label }: Namespace): string | undefined {
    return unreadableReason(label);
  },
};
