/** An attached pod of this node with the policies that apply to it. */
import type { PodAttachment } from '../cache/address-owners.ts';
import type { PolicyPod } from '../cache/policy-pod.ts';
import { ruleList } from '../configurator/rule-list.ts';
import {
  noRules,
  type PodPolicy,
  type PolicyDirection,
  type PolicyRule,
  policyTiers,
  type RuleList,
} from '../pod-policy.ts';
import type { PolicyEntry } from './policy-entry.ts';

/** A policy that selects a pod, or may do so. */
export interface AppliedPolicy {
  readonly policy: PolicyEntry;
  /** Whether it is known what the policy says about the pod. */
  readonly isKnown: boolean;
}

export class AttachmentEntry {
  readonly attachment: PodAttachment;
  /** undefined: unknown. */
  record: PolicyPod | undefined;
  /** In the order in which they decide. */
  policies: readonly AppliedPolicy[] = [];
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
    const ingress = this.#rules('ingress', before?.ingress ?? noRules);
    const egress = this.#rules('egress', before?.egress ?? noRules);
    if (this.#policy?.ingress === ingress && this.#policy.egress === egress) return false;
    const { pod, addresses } = this.attachment;
    this.#policy = { pod, addresses, ingress, egress };
    return true;
  }

  #rules(direction: PolicyDirection, before: RuleList): RuleList {
    const applied = this.policies.filter(({ policy, isKnown }) =>
      isKnown ? policy.concerns(direction) : policy.restricts(direction),
    );
    const rules = policyTiers.flatMap((tier) => {
      const ofTier = applied.filter(({ policy }) => policy.spec.tier === tier);
      const explicit = ofTier.flatMap((one) => this.#explicitRules(one, direction));
      // after what all policies of the tier accept
      const isolating = ofTier.filter(({ policy }) => policy.spec.isolates[direction]);
      return [...explicit, ...isolating.map(({ policy }) => policy.denyingAll)];
    });
    return ruleList(
      applied.map(({ policy }) => policy.spec.name),
      rules,
      before,
    );
  }

  #explicitRules({ policy, isKnown }: AppliedPolicy, direction: PolicyDirection): PolicyRule[] {
    if (isKnown && this.record) return policy.rules?.rulesFor(this.record, direction) ?? [];
    return policy.spec.isolates[direction] ? [] : [policy.denyingAll];
  }
}

function isOf({ pod, addresses }: PodPolicy, attachment: PodAttachment): boolean {
  return (
    pod === attachment.pod &&
    addresses.length === attachment.addresses.length &&
    addresses.every((address, at) => address === attachment.addresses[at])
  );
}
