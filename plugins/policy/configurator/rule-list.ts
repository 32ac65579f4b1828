/**
 * Makes the lists of rules of pods. Pods with the same rules have one list, however many they are: what follows from it, such
 * as its decisions, is computed once.
 */
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
  return policies.length === 0 ? noRules : shared({ policies, rules });
}

const lists = new Map<string, WeakRef<RuleList>>();

const unused = new FinalizationRegistry<string>((text) => {
  if (lists.get(text)?.deref() === undefined) lists.delete(text);
});

/** Rules of one policy are the same objects for all pods as long as they do not change. */
function shared(list: RuleList): RuleList {
  const text = `${list.policies.join()}:${list.rules.map(numberOf).join()}`;
  const known = lists.get(text)?.deref();
  if (known !== undefined) return known;
  lists.set(text, new WeakRef(list));
  unused.register(list, text);
  return list;
}

const numbers = new WeakMap<PolicyRule, number>();
let last = 0;

function numberOf(rule: PolicyRule): number {
  const number = numbers.get(rule) ?? ++last;
  numbers.set(rule, number);
  return number;
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
