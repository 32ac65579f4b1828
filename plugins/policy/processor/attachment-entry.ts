/** An attached pod of this node with the policies that isolate it. */
import type { PodAttachment } from '../cache/address-owners.ts';
import type { PolicyPod } from '../cache/policy-pod.ts';
import { isolation, notIsolated } from '../configurator/isolation.ts';
import type { Isolation, Permit, PodPolicy, PolicyDirection } from '../pod-policy.ts';
import type { PolicyEntry } from './policy-entry.ts';

export class AttachmentEntry {
  readonly attachment: PodAttachment;
  /** undefined: unknown. */
  record: PolicyPod | undefined;
  /** Those that select it, or all policies of its namespace if the pod is unknown; sorted by name. */
  policies: readonly PolicyEntry[] = [];
  /** undefined before the first `refresh`. */
  #policy: PodPolicy | undefined;
  /** Of the attachment that this one replaces: what does not change stays. */
  readonly #before: PodPolicy | undefined;

  constructor(attachment: PodAttachment, before: PodPolicy | undefined) {
    this.attachment = attachment;
    this.#before = before;
    if (before !== undefined && isOf(before, attachment)) this.#policy = before;
  }

  get policy(): PodPolicy | undefined {
    return this.#policy;
  }

  /** Computes the policy of the pod again. @returns whether it has changed */
  refresh(): boolean {
    const before = this.#policy ?? this.#before;
    const ingress = this.#isolation('ingress', before?.ingress ?? notIsolated);
    const egress = this.#isolation('egress', before?.egress ?? notIsolated);
    if (this.#policy?.ingress === ingress && this.#policy.egress === egress) return false;
    const { pod, addresses } = this.attachment;
    this.#policy = { pod, addresses, ingress, egress };
    return true;
  }

  #isolation(direction: PolicyDirection, before: Isolation): Isolation {
    const policies = this.policies.filter(({ spec }) => spec.isolates[direction]);
    const permits: Permit[] = [];
    // whether a policy selects an unknown pod is unknown, too: it is permitted nothing
    if (this.record !== undefined)
      for (const { rules } of policies)
        permits.push(...(rules?.permitsFor(this.record, direction) ?? []));
    return isolation(
      policies.map(({ spec }) => spec.name),
      permits,
      before,
    );
  }
}

function isOf({ pod, addresses }: PodPolicy, attachment: PodAttachment): boolean {
  return (
    pod === attachment.pod &&
    addresses.length === attachment.addresses.length &&
    addresses.every((address, at) => address === attachment.addresses[at])
  );
}
