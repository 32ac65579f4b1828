import type { PolicyRule as RuleDocument } from '#documents/policy-rule.ts';
import type { PolicyDirection, PolicyRule } from '../pod-policy.ts';

export function ruleDocument(
  rule: PolicyRule,
  direction: PolicyDirection,
): Omit<RuleDocument, 'ports'> {
  const { tier, action, policy, rule: position = null, name } = rule;
  return {
    tier,
    action,
    policy,
    rule: position,
    ...(name !== undefined && { name }),
    text: ruleText(rule, direction),
  };
}

const verbs = { Accept: 'accepted', Deny: 'denied', Pass: 'passed on' } as const;

/** For example `denied by Admin policy no-metadata, spec.egress[0] "metadata"`. */
export function ruleText(
  { tier, action, policy, rule, name }: PolicyRule,
  direction: PolicyDirection,
): string {
  const prefix = tier === 'NetworkPolicy' ? '' : `${tier} policy `;
  const place =
    rule === undefined ? ', whose rules do not permit it' : `, spec.${direction}[${rule}]`;
  const named = name === undefined ? '' : ` "${name}"`;
  return `${verbs[action]} by ${prefix}${policy}${place}${named}`;
}
