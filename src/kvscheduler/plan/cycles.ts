import type { Slices } from '../slices.ts';
import type { Draft } from './draft.ts';

/** Values that depend on each other in a circle and can only come together. */
export interface Cycle {
  readonly members: readonly Draft[];
  /** Everything that the members need from outside is there. */
  ready: boolean;
}

type Edges = (draft: Draft) => readonly Draft[];

/**
 * The circles among the values that are to be created.
 * @param edgesOf values to be created that this one needs by name
 */
export async function findCycles(
  drafts: readonly Draft[],
  edgesOf: Edges,
  slices: Slices,
): Promise<ReadonlyMap<Draft, Cycle>> {
  const cycles = new Map<Draft, Cycle>();
  for (const members of components(drafts, edgesOf)) {
    if (slices.due()) await slices.turn();
    if (members.length < 2) continue;
    const cycle: Cycle = { members, ready: false };
    for (const member of members) cycles.set(member, cycle);
  }
  return cycles;
}

/** A circle, or a single value, that needs nothing of the others. */
export function findKnot(drafts: readonly Draft[], edgesOf: Edges): readonly Draft[] {
  for (const members of components(drafts, edgesOf)) if (members.length > 0) return members;
  return [];
}

interface Visit {
  readonly draft: Draft;
  readonly edges: readonly Draft[];
  next: number;
}

/**
 * Strongly connected components, those first that need nothing of the others (Tarjan's algorithm,
 * without recursion). In between comes an empty list, so that a long search can be cut.
 */
function* components(drafts: readonly Draft[], edgesOf: Edges): Generator<Draft[], void, void> {
  const order = new Map<Draft, number>();
  const low = new Map<Draft, number>();
  const open: Draft[] = [];
  const isOpen = new Set<Draft>();
  const path: Visit[] = [];
  const enter = (draft: Draft): void => {
    low.set(draft, order.size);
    order.set(draft, order.size);
    open.push(draft);
    isOpen.add(draft);
    path.push({ draft, edges: edgesOf(draft), next: 0 });
  };
  const lower = (draft: Draft, to: number): void => {
    low.set(draft, Math.min(low.get(draft) as number, to));
  };
  for (const start of drafts) {
    if (order.has(start)) continue;
    enter(start);
    for (let visit = path.at(-1); visit; visit = path.at(-1)) {
      const { draft, edges } = visit;
      const to = edges[visit.next++];
      if (to) {
        if (!order.has(to)) enter(to);
        else if (isOpen.has(to)) lower(draft, order.get(to) as number);
        yield [];
        continue;
      }
      path.pop();
      const parent = path.at(-1);
      if (parent) lower(parent.draft, low.get(draft) as number);
      if (low.get(draft) !== order.get(draft)) continue;
      const members = open.splice(open.lastIndexOf(draft));
      for (const member of members) isOpen.delete(member);
      yield members;
    }
  }
}
