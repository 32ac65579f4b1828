import type { Slices } from '#infra/clock/slices.ts';
import type { PlannedValue } from './planned-value.ts';

/** Values that depend on each other in a cycle and can only be created together. */
export interface Cycle {
  readonly members: readonly PlannedValue[];
  /** The dependencies of the members on other values are met. */
  isReady: boolean;
}

type Edges<T> = (from: T) => readonly T[];

/**
 * Cycles among the values that are created.
 * @param edgesOf values to be created whose keys are dependencies of this one
 */
export async function findCycles(
  values: readonly PlannedValue[],
  edgesOf: Edges<PlannedValue>,
  slices: Slices,
): Promise<ReadonlyMap<PlannedValue, Cycle>> {
  const cycles = new Map<PlannedValue, Cycle>();
  if (await areInOrder(values, edgesOf, slices)) return cycles;
  for (const members of stronglyConnected(values, edgesOf)) {
    if (slices.due()) await slices.turn();
    if (members.length < 2) continue;
    const cycle: Cycle = { members, isReady: false };
    for (const member of members) cycles.set(member, cycle);
  }
  return cycles;
}

/** Whether each value depends only on values before it, as most do: then there is no cycle. */
async function areInOrder(
  values: readonly PlannedValue[],
  edgesOf: Edges<PlannedValue>,
  slices: Slices,
): Promise<boolean> {
  for (const value of values) {
    if (slices.due()) await slices.turn();
    if (edgesOf(value).some(({ index }) => index > value.index)) return false;
  }
  return true;
}

interface Visit<T> {
  readonly from: T;
  readonly edges: readonly T[];
  next: number;
}

/**
 * Strongly connected components, those without edges to the others first (Tarjan's algorithm without
 * recursion). Empty arrays are yielded in between, so that a long search can be sliced.
 */
export function* stronglyConnected<T>(
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
