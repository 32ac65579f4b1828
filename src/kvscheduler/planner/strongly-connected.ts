import type { Slices } from '#infra/clock/slices.ts';
import type { Draft } from './planned-value.ts';

/** Values that depend on each other in a circle and can only come together. */
export interface Cycle {
  readonly members: readonly Draft[];
  /** Everything that the members need from outside is there. */
  ready: boolean;
}

type Edges<T> = (from: T) => readonly T[];

/**
 * The circles among the values that are to be created.
 * @param edgesOf values to be created that this one needs by name
 */
export async function findCycles(
  drafts: readonly Draft[],
  edgesOf: Edges<Draft>,
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

interface Visit<T> {
  readonly from: T;
  readonly edges: readonly T[];
  next: number;
}

/**
 * Strongly connected components, those first that need nothing of the others (Tarjan's algorithm,
 * without recursion). In between comes an empty list, so that a long search can be cut.
 */
export function* components<T>(
  starts: readonly T[],
  edgesOf: Edges<T>,
): Generator<T[], void, void> {
  const order = new Map<T, number>();
  const low = new Map<T, number>();
  const open: T[] = [];
  const isOpen = new Set<T>();
  const path: Visit<T>[] = [];
  const enter = (from: T): void => {
    low.set(from, order.size);
    order.set(from, order.size);
    open.push(from);
    isOpen.add(from);
    path.push({ from, edges: edgesOf(from), next: 0 });
  };
  const lower = (from: T, to: number): void => {
    low.set(from, Math.min(low.get(from) as number, to));
  };
  for (const start of starts) {
    if (order.has(start)) continue;
    enter(start);
    for (let visit = path.at(-1); visit; visit = path.at(-1)) {
      const { from, edges } = visit;
      const to = edges[visit.next++];
      if (to) {
        if (!order.has(to)) enter(to);
        else if (isOpen.has(to)) lower(from, order.get(to) as number);
        yield [];
        continue;
      }
      path.pop();
      const parent = path.at(-1);
      if (parent) lower(parent.from, low.get(from) as number);
      if (low.get(from) !== order.get(from)) continue;
      const members = open.splice(open.lastIndexOf(from));
      for (const member of members) isOpen.delete(member);
      yield members;
    }
  }
}
