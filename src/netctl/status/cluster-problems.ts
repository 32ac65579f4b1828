/** The same problem of several nodes is listed once. */
import type { NodeProblem } from './node-problems.ts';

/** Times in any form: netctl has them as numbers, documents as texts. */
type Dated = Pick<NodeProblem, 'severity'> & { readonly since: unknown };

export type OfNodes<P extends Dated> = Omit<P, 'since'> & {
  /** In the order of the nodes. */
  readonly nodes: readonly { readonly name: string; readonly since: P['since'] }[];
};

export type ClusterProblem = OfNodes<NodeProblem>;

/** Errors first; then those of most nodes. */
export function clusterProblems<P extends Dated>(
  nodes: readonly { readonly name: string; readonly problems: readonly P[] }[],
): readonly OfNodes<P>[] {
  const all = nodes.flatMap(({ name, problems }) => problems.map((problem) => ({ name, problem })));
  const same = Map.groupBy(all, ({ problem: { since: _, ...rest } }) => JSON.stringify(rest));
  return [...same.values()]
    .map((its): OfNodes<P> => {
      const { since: _, ...rest } = its[0]!.problem;
      return { ...rest, nodes: its.map(({ name, problem: { since } }) => ({ name, since })) };
    })
    .toSorted((a, b) => rank(a) - rank(b) || b.nodes.length - a.nodes.length);
}

function rank({ severity }: Pick<NodeProblem, 'severity'>): number {
  return severity === 'error' ? 0 : 1;
}
