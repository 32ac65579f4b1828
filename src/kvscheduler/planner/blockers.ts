/**
 * What has to stay because of values that cannot be touched: their base, and what they depend on.
 */
import type { Node } from '../graph/graph.ts';
import type { Resolver } from './resolver.ts';

/**
 * Adds to `held` what the plan would take away from under a held value.
 * @returns whether there was any: the plan has to be made anew
 */
export async function pin(resolver: Resolver, held: Set<Node>): Promise<boolean> {
  const { slices } = resolver.input;
  const before = held.size;
  for (const node of [...held]) {
    if (slices.due()) await slices.turn();
    if (node.actual === undefined) continue;
    pinBase(resolver, node, held);
    pinDependencies(resolver, node, held);
  }
  return held.size > before;
}

function pinBase({ drafts }: Resolver, { key, base }: Node, held: Set<Node>): void {
  const draft = base && drafts.get(base.key);
  if (!draft || draft.foreign) return;
  const obsolete = drafts.get(key)?.wish === undefined;
  if (draft.needsDelete || (draft.needsUpdate && obsolete)) held.add(base);
}

function pinDependencies(resolver: Resolver, node: Node, held: Set<Node>): void {
  const { drafts, input } = resolver;
  // Of what has an unknown outcome nobody knows whether it is there to be relied on.
  const isThere = (one: Node | undefined): one is Node =>
    one?.actual !== undefined && !one.outcomeUnknown;
  const remains = (key: string): boolean => {
    const draft = drafts.get(key);
    if (!draft) return isThere(input.graph.get(key));
    return isThere(draft.node) && !draft.needsDelete;
  };
  for (const dependency of node.actualDependencies) {
    if (resolver.view.first(dependency, remains) !== undefined) continue;
    const here = (key: string): boolean => {
      const { node: one, foreign } = drafts.get(key) ?? { node: undefined, foreign: false };
      return isThere(one) && !foreign;
    };
    const key = resolver.view.first(dependency, here);
    const needed = key === undefined ? undefined : input.graph.get(key);
    if (needed) held.add(needed);
  }
}
