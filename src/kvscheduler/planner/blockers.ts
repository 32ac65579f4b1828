/** Values that a blocked value needs: its base and its dependencies. They must stay, too. */
import type { Graph } from '../graph/graph.ts';
import type { Node } from '../graph/node.ts';
import { matches } from './planned-graph.ts';
import type { Resolution } from './resolution.ts';

/** Nodes that the plan would remove or change although a blocked value needs them. */
export async function blockersOf(resolution: Resolution): Promise<readonly Node[]> {
  const { graph, blocked, input } = resolution;
  const found = new Set<Node>();
  await input.slices.each(blocked, ({ node }) => {
    if (node?.actual === undefined) return;
    for (const needed of [neededBase(resolution, node), ...neededDependencies(resolution, node)])
      if (needed && !graph.values.get(needed.key)?.isBlocked) found.add(needed);
  });
  return [...found];
}

function neededBase({ graph }: Resolution, { key, base }: Node): Node | undefined {
  const value = base && graph.values.get(base.key);
  if (!value || value.goal.unmanaged) return undefined;
  const isObsolete = graph.values.get(key)?.goal.value === undefined;
  return value.isDeleted || (value.isUpdated && isObsolete) ? base : undefined;
}

function* neededDependencies(
  { graph, input }: Resolution,
  node: Node,
): Generator<Node | undefined, void, void> {
  // A value of unknown outcome may not exist: it cannot be relied on.
  const exists = (one: Node | undefined): boolean =>
    one?.actual !== undefined && !one.outcomeUnknown;
  const remains = (key: string): boolean => {
    const value = graph.values.get(key);
    if (!value) return exists(input.graph.get(key));
    return exists(value.node) && !value.isDeleted;
  };
  const canRemain = (key: string): boolean => {
    const value = graph.values.get(key);
    return exists(value?.node) && !value?.goal.unmanaged;
  };
  for (const dependency of node.actualDependencies) {
    if (graph.first(dependency, remains) !== undefined) continue;
    const key = graph.first(dependency, canRemain);
    yield key === undefined ? undefined : input.graph.get(key);
  }
}

/** Blocked nodes that the given one may have blocked: its base and its dependencies. */
export function* blockedBy(
  { base, actualDependencies }: Node,
  graph: Graph,
): Generator<Node, void, void> {
  if (base && graph.blocked.has(base)) yield base;
  for (const dependency of actualDependencies) {
    const node = dependency.key === undefined ? undefined : graph.get(dependency.key);
    if (node && graph.blocked.has(node)) yield node;
    if (dependency.anyOf)
      for (const one of graph.blocked) if (matches(dependency, one.key)) yield one;
  }
}
