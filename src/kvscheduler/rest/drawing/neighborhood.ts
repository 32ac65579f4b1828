/** The part of a graph around some of its nodes: a picture of hundreds of values cannot be read. */
import type { Slices } from '#infra/clock/slices.ts';
import type { RecordedNode } from '../../history/timeline/recorded-node.ts';

export interface Neighborhood {
  /** The nodes in the middle: one key, or all keys with a prefix. */
  readonly key?: string | undefined;
  readonly prefix?: string | undefined;
  /** The number of relations, in either direction, up to the farthest nodes. */
  readonly hops: number;
}

/** @returns the nodes in their order; none if no node is in the middle */
export async function neighborhood(
  nodes: readonly RecordedNode[],
  { key, prefix, hops }: Neighborhood,
  slices: Slices,
): Promise<RecordedNode[]> {
  const related = new Map<string, Set<string>>();
  const relate = (from: string, to: string) =>
    related.set(from, (related.get(from) ?? new Set()).add(to));
  const shown = new Set<string>();
  for (const { Key, Targets } of nodes) {
    if (slices.due()) await slices.turn();
    if (Key === key || (prefix !== undefined && Key.startsWith(prefix))) shown.add(Key);
    for (const { MatchingKeys } of Targets)
      for (const other of MatchingKeys) {
        relate(Key, other);
        relate(other, Key);
      }
  }
  let edge: ReadonlySet<string> = new Set(shown);
  for (let hop = 0; hop < hops && edge.size > 0; hop++) {
    const next = new Set<string>();
    for (const one of edge) {
      if (slices.due()) await slices.turn();
      for (const other of related.get(one) ?? []) if (!shown.has(other)) next.add(other);
    }
    for (const one of next) shown.add(one);
    edge = next;
  }
  return nodes.filter(({ Key }) => shown.has(Key));
}
