/** Keeps tables within what VPP carries. */
import type { Permit, PolicyName } from '../pod-policy.ts';
import { isComparable, ruleCount } from './acl-rules.ts';
import type { Table } from './table.ts';

/** VPP forwards nothing while it takes in a table: about a quarter of a second with so many rules. */
export const MAX_RULES = 5000;

export interface LimitedTable {
  readonly table: Table;
  /** Policies whose permits are left out, because the table would have more rules than the limit. */
  readonly omitted: readonly PolicyName[];
}

/**
 * Leaves out whole policies, those with most rules first, until the table is within the limit: less is
 * permitted than they say, never more.
 * @param permits of all policies that the table is made from
 * @param build the table without these policies
 */
export function withinLimit(
  permits: () => Iterable<Permit>,
  build: (without: ReadonlySet<PolicyName>) => Table,
  limit: number,
): LimitedTable {
  const omitted = new Set<PolicyName>();
  let table = build(omitted);
  if (ruleCount(table) <= limit) return { table, omitted: [] };
  const sizes = new Map<PolicyName, number>();
  for (const permit of permits())
    sizes.set(permit.policy, (sizes.get(permit.policy) ?? 0) + sizeOf(permit));
  const largestFirst = [...sizes].sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1));
  for (const [policy] of largestFirst) {
    if (ruleCount(table) <= limit) break;
    omitted.add(policy);
    table = build(omitted);
  }
  return { table, omitted: [...omitted].sort() };
}

function sizeOf({ peers, ports }: Permit): number {
  const count = ports.isAny ? 1 : ports.ranges().length;
  return peers.prefixes().length * count;
}

/** Policies with ports of SCTP, which VPP cannot tell apart: they are denied. */
export function policiesWithSctpPorts(permits: Iterable<Permit>): Set<PolicyName> {
  const found = new Set<PolicyName>();
  for (const { policy, ports } of permits)
    if (!ports.isAny && !ports.ranges().every(isComparable)) found.add(policy);
  return found;
}
