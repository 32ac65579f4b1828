/** The rules of a policy in use: its peers are followed from `acquire` to `release`. */
import type { Slices } from '#infra/clock/slices.ts';
import type { PeerSelector } from '../cache/peer-selector.ts';
import type { PeerSelectors } from '../cache/peer-selectors.ts';
import type { PolicyPod } from '../cache/policy-pod.ts';
import type { Permit, PolicyDirection } from '../pod-policy.ts';
import type { PolicySpec, RuleSpec } from './policy-spec.ts';
import { RulePermits } from './rule-permits.ts';

export class PolicyRules {
  readonly selectors: readonly PeerSelector[];
  readonly #rules: Readonly<Record<PolicyDirection, readonly RulePermits[]>>;

  private constructor(
    selectors: readonly PeerSelector[],
    rules: Readonly<Record<PolicyDirection, readonly RulePermits[]>>,
  ) {
    this.selectors = selectors;
    this.#rules = rules;
  }

  static async acquire(
    { name, ingress, egress }: PolicySpec,
    peers: PeerSelectors,
    slices: Slices,
  ): Promise<PolicyRules> {
    const all: PeerSelector[] = [];
    const rules = async (specs: readonly RuleSpec[]): Promise<RulePermits[]> => {
      const made: RulePermits[] = [];
      for (const spec of specs) {
        const selectors: PeerSelector[] = [];
        for (const one of spec.peers.selectors) selectors.push(await peers.acquire(one, slices));
        all.push(...selectors);
        made.push(new RulePermits(name, spec, selectors));
      }
      return made;
    };
    return new PolicyRules(all, { ingress: await rules(ingress), egress: await rules(egress) });
  }

  release(peers: PeerSelectors): void {
    for (const selector of this.selectors) peers.release(selector);
  }

  permitsFor(pod: PolicyPod, direction: PolicyDirection): Permit[] {
    return this.#rules[direction].flatMap((rule) => [...rule.permitsFor(pod)]);
  }

  /** @param selected pods of this node that the policy selects */
  problems(selected: readonly PolicyPod[]): string[] {
    return [...this.#rules.ingress, ...this.#rules.egress].flatMap((rule) =>
      rule.problems(selected),
    );
  }
}
