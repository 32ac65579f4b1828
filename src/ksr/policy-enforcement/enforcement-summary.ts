/** Which nodes enforce each policy, of all nodes at one moment. */
import type { NodeReport } from './node-reports.ts';

/** Nodes that are named. */
const NAMED = 3;

export interface Enforcement {
  /** Of all. */
  readonly nodes: number;
  readonly refusing: number;
  readonly unknown: number;
  /** Of the first ones that refuse, in the order of their names. */
  readonly reasons: readonly { readonly node: string; readonly reason: string }[];
  readonly unknownNames: readonly string[];
}

export interface SummaryInput {
  readonly nodes: Iterable<string>;
  readonly reportOf: (node: string) => NodeReport | undefined;
  /** Number of the set of policies that has a digest; undefined: it is not known. */
  readonly numberOf: (digest: string) => number | undefined;
}

/** Nodes that answer alike: they are looked at once for each policy, however many they are. */
interface Group {
  /** Of the set that they have applied; undefined: nothing is known about them. */
  readonly number: number | undefined;
  /** The policies that are not refused are unknown. */
  readonly isCut: boolean;
  count: number;
  /** The first names. */
  names: readonly string[];
}

export class EnforcementSummary {
  readonly #groups = new Map<string, Group>();
  /** By policy, then by node. */
  readonly #refusals = new Map<string, Refusal[]>();
  readonly #faults: Refusal[] = [];
  #nodes = 0;

  constructor({ nodes, reportOf, numberOf }: SummaryInput) {
    for (const node of nodes) {
      this.#nodes++;
      const report = reportOf(node);
      if (report !== undefined && report.problem !== '') {
        this.#faults.push({ node, reason: report.problem, group: undefined });
        continue;
      }
      const number = report && numberOf(report.applied);
      const group = this.#add(node, number, report?.isCut ?? false);
      // what an older set of policies was refused for says nothing about this one
      for (const [policy, reason] of report?.refused ?? [])
        refusalsOf(this.#refusals, policy).push({ node, reason, group });
    }
  }

  /** @param since number of the first set with the content of the policy; undefined: none has it yet */
  of(policy: string, since: number | undefined): Enforcement {
    const hasApplied = (group: Group): boolean =>
      since !== undefined && group.number !== undefined && group.number >= since;
    const refusing = [...this.#faults];
    const refusingIn = new Map<Group, number>();
    for (const refusal of this.#refusals.get(policy) ?? []) {
      const { group } = refusal;
      if (group === undefined || !hasApplied(group)) continue;
      refusing.push(refusal);
      refusingIn.set(group, (refusingIn.get(group) ?? 0) + 1);
    }
    let unknown = 0;
    let names: readonly string[] = [];
    for (const group of this.#groups.values()) {
      if (hasApplied(group) && !group.isCut) continue;
      const refused = refusingIn.get(group) ?? 0;
      unknown += group.count - refused;
      // a group that is cut may have some that refuse
      if (group.count > refused) names = firstOf([...names, ...group.names]);
    }
    const named = new Set(refusing.map(({ node }) => node));
    return {
      nodes: this.#nodes,
      refusing: refusing.length,
      unknown,
      reasons: firstRefusals(refusing),
      unknownNames: names.filter((name) => !named.has(name)),
    };
  }

  #add(node: string, number: number | undefined, isCut: boolean): Group {
    const text = `${number} ${isCut}`;
    const group = this.#groups.get(text) ?? { number, isCut, count: 0, names: [] };
    this.#groups.set(text, group);
    group.count++;
    const last = group.names[NAMED - 1];
    if (last === undefined || node < last) group.names = firstOf([...group.names, node]);
    return group;
  }
}

interface Refusal {
  readonly node: string;
  readonly reason: string;
  /** undefined: whatever the node has applied. */
  readonly group: Group | undefined;
}

function refusalsOf(all: Map<string, Refusal[]>, policy: string): Refusal[] {
  const known = all.get(policy) ?? [];
  all.set(policy, known);
  return known;
}

function firstOf(names: readonly string[]): readonly string[] {
  return [...names].sort().slice(0, NAMED);
}

/** Without a sort of all: they may be those of thousands of nodes. */
function firstRefusals(all: readonly Refusal[]): Enforcement['reasons'] {
  let first: Refusal[] = [];
  for (const one of all) {
    const last = first[NAMED - 1];
    if (last !== undefined && one.node >= last.node) continue;
    first = [...first, one].sort((a, b) => (a.node < b.node ? -1 : 1)).slice(0, NAMED);
  }
  return first.map(({ node, reason }) => ({ node, reason }));
}
