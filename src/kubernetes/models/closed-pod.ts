/**
 * Pods that cannot be read. Policies would keep the labels of the record before, by which another policy may select
 * the pod than now, so such a pod has none: its labels are unknown. Fields that can be read stay: services and the addresses
 * of pods need no labels.
 */
import { InvalidModelError } from '#models/model.ts';
import { unreadableLabel, unreadableReason } from './closed-policy.ts';
import { type Pod, podModel } from './pod.ts';

export const closedPods = {
  value(
    names: { readonly name: string; readonly namespace: string },
    reason: string,
    raw?: unknown,
  ): Pod {
    return { ...readableFields(raw), ...names, label: unreadableLabel([reason]), labels: {} };
  },

  /** A newer writer does not restrict by a field what a pod may do. */
  isReadable(): boolean {
    return true;
  },

  unreadableParts({ label }: Pod): string | undefined {
    return unreadableReason(label);
  },
};

/** Each field that can be read alone. */
function readableFields(raw: unknown): Pod {
  const fields = typeof raw === 'object' && raw !== null ? Object.entries(raw) : [];
  const readable = fields.filter((field) => parsed([field]) !== undefined);
  return parsed(readable) ?? podModel.canonical({});
}

function parsed(fields: readonly (readonly [string, unknown])[]): Pod | undefined {
  try {
    return podModel.parse(Object.fromEntries(fields));
  } catch (thrown) {
    if (thrown instanceof InvalidModelError) return undefined;
    throw thrown;
  }
}
