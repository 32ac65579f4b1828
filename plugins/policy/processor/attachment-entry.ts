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
  #ingress: Isolation;
  #egress: Isolation;
  /** undefined before the first `refresh`. */
  #policy: PodPolicy | undefined;

  /** @param before of the attachment that this one replaces: isolations that do not change stay */
  constructor(attachment: PodAttachment, before: PodPolicy | undefined) {
    this.attachment = attachment;
    this.#ingress = before?.ingress ?? notIsolated;
    this.#egress = before?.egress ?? notIsolated;
  }

  get policy(): PodPolicy | undefined {
    return this.#policy;
  }

  /** Computes the policy of the pod again. @returns whether it has changed */
  refresh(): boolean {
    const ingress = this.#isolation('ingress', this.#ingress);
    const egress = this.#isolation('egress', this.#egress);
    if (this.#policy !== undefined && this.#ingress === ingress && this.#egress === egress)
      return false;
    this.#ingress = ingress;
    this.#egress = egress;
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
