/** Keeps lists of rules within what VPP carries. */
import type { PolicyName, PolicyRule } from '../pod-policy.ts';
import { isComparable } from './acl-rules.ts';

/** VPP forwards nothing while it takes in a table: about a quarter of a second with so many rules. */
export const MAX_RULES = 5000;

export interface Limited<T> {
  readonly result: T;
  /** Policies that are left out, because there would be more rules than the limit. */
  readonly omitted: readonly PolicyName[];
}

/**
 * Leaves out whole policies, those with most rules first, until the rules are within the limit: less is
 * permitted than they say, never more.
 * @param rules of all policies that the rules are made from, as far as these depend on them
 * @param build the result without these policies
 * @param count its number of rules
 */
export function withinLimit<T>(
  rules: () => Iterable<PolicyRule>,
  build: (without: ReadonlySet<PolicyName>) => T,
  count: (result: T) => number,
  limit: number,
): Limited<T> {
  const whole = build(new Set());
  if (count(whole) <= limit) return { result: whole, omitted: [] };
  const sizes = new Map<PolicyName, number>();
  // what a policy denies beside its rules stays without it
  for (const rule of rules())
    if (rule.rule !== undefined)
      sizes.set(rule.policy, (sizes.get(rule.policy) ?? 0) + sizeOf(rule));
  const largestFirst = [...sizes]
    .sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1))
    .map(([policy]) => policy);
  // the more are left out, the fewer rules there are: each attempt builds everything
  let [tooFew, enough] = [0, largestFirst.length];
  let result: T | undefined;
  while (enough - tooFew > 1) {
    const middle = (tooFew + enough) >> 1;
    const attempt = build(new Set(largestFirst.slice(0, middle)));
    if (count(attempt) <= limit) [enough, result] = [middle, attempt];
    else tooFew = middle;
  }
  const omitted = largestFirst.slice(0, enough);
  return { result: result ?? build(new Set(omitted)), omitted: omitted.sort() };
}

function sizeOf({ peers, ports }: PolicyRule): number {
  const count = ports.isAny ? 1 : ports.ranges.length;
  return peers.prefixes().length * count;
}

/** Policies with ports of SCTP, which VPP does not compare: they are denied. */
export function policiesWithSctpPorts(rules: Iterable<PolicyRule>): Set<PolicyName> {
  const found = new Set<PolicyName>();
  for (const { policy, ports } of rules)
    if (!ports.isAny && !ports.ranges.every(isComparable)) found.add(policy);
  return found;
}
