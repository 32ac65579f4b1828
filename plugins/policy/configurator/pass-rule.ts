/**
 * A rule that passes. What it certainly matches it leaves to the next tier. What it may match, because a pod, a namespace or a
 * node is unknown, it denies, as ClusterNetworkPolicies fail closed: a later rule of the tier might accept what the next tier denies.
 */
import type { PolicyPod } from '../cache/policy-pod.ts';
import type { PolicyRule } from '../pod-policy.ts';
import type { ResolvedRule, RuleOfPolicy } from './resolved-rule.ts';

export class PassRule implements RuleOfPolicy {
  readonly #certain: ResolvedRule;
  /** Denies what the rule matches, or may match. */
  readonly #possible: ResolvedRule;
  /** By what is certain: the same objects for all pods. */
  readonly #rules = new WeakMap<readonly PolicyRule[], Both>();

  constructor(certain: ResolvedRule, possible: ResolvedRule) {
    this.#certain = certain;
    this.#possible = possible;
  }

  rulesFor(pod: PolicyPod): readonly PolicyRule[] {
    const certain = this.#certain.rulesFor(pod);
    const possible = this.#possible.rulesFor(pod);
    const known = this.#rules.get(certain);
    if (known?.possible === possible) return known.rules;
    // what was passed is not denied any more
    const rules = isSameTraffic(certain, possible) ? certain : [...certain, ...possible];
    this.#rules.set(certain, { possible, rules });
    return rules;
  }

  problems(selected: readonly PolicyPod[]): string[] {
    return this.#certain.problems(selected);
  }
}

interface Both {
  readonly possible: readonly PolicyRule[];
  readonly rules: readonly PolicyRule[];
}

function isSameTraffic(some: readonly PolicyRule[], others: readonly PolicyRule[]): boolean {
  return (
    some.length === others.length &&
    some.every(({ peers, ports }, at) => {
      const other = others[at] as PolicyRule;
      return ports.text === other.ports.text && peers.equals(other.peers);
    })
  );
}
