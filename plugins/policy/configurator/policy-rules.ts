/** The rules of a policy in use: its peers are followed from `acquire` to `release`. */
import type { Slices } from '#infra/clock/slices.ts';
import type { NodeTable } from '../cache/node-table.ts';
import type { PeerSelector } from '../cache/peer-selector.ts';
import type { PeerSelectors } from '../cache/peer-selectors.ts';
import type { PolicyPod } from '../cache/policy-pod.ts';
import type { PolicyDirection, PolicyRule } from '../pod-policy.ts';
import { PassRule } from './pass-rule.ts';
import type { PolicySpec, RuleSpec } from './policy-spec.ts';
import { ResolvedRule, type RuleOfPolicy } from './resolved-rule.ts';

export class PolicyRules {
  readonly selectors: readonly PeerSelector[];
  readonly #rules: Readonly<Record<PolicyDirection, readonly RuleOfPolicy[]>>;

  private constructor(
    selectors: readonly PeerSelector[],
    rules: Readonly<Record<PolicyDirection, readonly RuleOfPolicy[]>>,
  ) {
    this.selectors = selectors;
    this.#rules = rules;
  }

  static async acquire(
    spec: PolicySpec,
    peers: PeerSelectors,
    nodes: NodeTable,
    slices: Slices,
  ): Promise<PolicyRules> {
    const all: PeerSelector[] = [];
    const resolved = async (one: RuleSpec): Promise<ResolvedRule> => {
      const selectors: PeerSelector[] = [];
      for (const peer of one.peers.selectors) selectors.push(await peers.acquire(peer, slices));
      all.push(...selectors);
      return new ResolvedRule(spec, one, selectors, nodes);
    };
    const rules = async (specs: readonly RuleSpec[]): Promise<RuleOfPolicy[]> => {
      const made: RuleOfPolicy[] = [];
      for (const one of specs) {
        const rule = await resolved(one);
        made.push(one.action === 'Pass' ? new PassRule(rule, await resolved(denying(one))) : rule);
      }
      return made;
    };
    return new PolicyRules(all, {
      ingress: await rules(spec.ingress),
      egress: await rules(spec.egress),
    });
  }

  release(peers: PeerSelectors): void {
    for (const selector of this.selectors) peers.release(selector);
  }

  rulesFor(pod: PolicyPod, direction: PolicyDirection): PolicyRule[] {
    return this.#rules[direction].flatMap((rule) => [...rule.rulesFor(pod)]);
  }

  /** @param selected pods of this node that the policy selects */
  problems(selected: readonly PolicyPod[]): string[] {
    return [...this.#rules.ingress, ...this.#rules.egress].flatMap((rule) =>
      rule.problems(selected),
    );
  }
}

/** With all peers that a rule may match. */
function denying(rule: RuleSpec): RuleSpec {
  const { peers } = rule;
  const selectors = peers.selectors.map((one) => ({ ...one, isDenying: true }));
  return { ...rule, action: 'Deny', peers: { ...peers, selectors } };
}
