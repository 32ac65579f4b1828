/** Makes the lists of rules of pods. */
import { noRules, type PolicyName, type PolicyRule, type RuleList } from '../pod-policy.ts';

/** @returns `before` if nothing has changed */
export function ruleList(
  policies: readonly PolicyName[],
  rules: readonly PolicyRule[],
  before: RuleList,
): RuleList {
  const isSame =
    policies.length === before.policies.length &&
    rules.length === before.rules.length &&
    policies.every((name, at) => name === before.policies[at]) &&
    rules.every((rule, at) => isSameRule(rule, before.rules[at] as PolicyRule));
  if (isSame) return before;
  return policies.length === 0 ? noRules : { policies, rules };
}

function isSameRule(a: PolicyRule, b: PolicyRule): boolean {
  if (a === b) return true;
  return (
    a.policy === b.policy &&
    a.rule === b.rule &&
    a.tier === b.tier &&
    a.action === b.action &&
    a.name === b.name &&
    a.ports.text === b.ports.text &&
    a.peers.equals(b.peers)
  );
}
