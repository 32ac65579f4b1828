/** The same problem of several nodes is listed once. */
import type { NodeProblem } from './node-problems.ts';

export interface ClusterProblem extends Omit<NodeProblem, 'since'> {
  /** In the order of the nodes. */
  readonly nodes: readonly { readonly name: string; readonly since: number | undefined }[];
}

/** Errors first; then those of most nodes. */
export function clusterProblems(
  nodes: readonly { readonly name: string; readonly problems: readonly NodeProblem[] }[],
): readonly ClusterProblem[] {
  const all = nodes.flatMap(({ name, problems }) => problems.map((problem) => ({ name, problem })));
  const same = Map.groupBy(all, ({ problem: { since: _, ...rest } }) => JSON.stringify(rest));
  return [...same.values()]
    .map((its) => {
      const { since: _, ...rest } = its[0]!.problem;
      return { ...rest, nodes: its.map(({ name, problem: { since } }) => ({ name, since })) };
    })
    .toSorted((a, b) => rank(a) - rank(b) || b.nodes.length - a.nodes.length);
}

function rank({ severity }: ClusterProblem): number {
  return severity === 'error' ? 0 : 1;
}
