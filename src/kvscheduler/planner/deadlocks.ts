/**
 * Values that cannot be ordered because they wait for each other, directly or through others,
 * including `anyOf` dependencies.
 */
import type { Slices } from '#infra/clock/slices.ts';
import type { Dependency } from '../api/descriptor.ts';
import { byKey } from '../graph/by-key.ts';
import { KeyIndex } from '../graph/key-index.ts';
import { matches } from './planned-graph.ts';
import type { PlannedValue } from './planned-value.ts';
import { stronglyConnected } from './strongly-connected.ts';

/** A value, or all values whose keys have a prefix. */
type Vertex = PlannedValue | string;

/** Reads the values and dependencies that a value waits for. */
export interface Waiting {
  /** The base of a derived value, if it has to be placed first. */
  baseOf(value: PlannedValue): PlannedValue | undefined;
  unmetOf(value: PlannedValue): readonly Dependency[];
}

/**
 * The first value by key of each strongly connected component that waits for no other component:
 * placing it breaks the deadlock.
 */
export async function deadlockBreakers(
  left: readonly PlannedValue[],
  waiting: Waiting,
  slices: Slices,
): Promise<ReadonlySet<PlannedValue>> {
  const values = new Map<string, PlannedValue>();
  const keys = new KeyIndex();
  for (const value of left) {
    if (slices.due()) await slices.turn();
    values.set(value.key, value);
    keys.add(value.key);
  }
  const edges = new Map<Vertex, readonly Vertex[]>();
  const edgesOf = (vertex: Vertex): readonly Vertex[] => {
    let found = edges.get(vertex);
    if (!found) {
      found =
        typeof vertex === 'string'
          ? [...keys.withPrefix(vertex)].map((key) => values.get(key) as PlannedValue)
          : [...awaitedBy(vertex, waiting, values, keys)];
      edges.set(vertex, found);
    }
    return found;
  };
  const breakers = new Set<PlannedValue>();
  for (const members of stronglyConnected<Vertex>(left, edgesOf)) {
    if (slices.due()) await slices.turn();
    if (members.length === 0 || (await waitsForOthers(members, edgesOf, slices))) continue;
    const stuck = members.filter((member) => typeof member !== 'string');
    breakers.add(stuck.reduce((a, b) => (byKey(a, b) < 0 ? a : b)));
  }
  return breakers;
}

async function waitsForOthers(
  members: readonly Vertex[],
  edgesOf: (vertex: Vertex) => readonly Vertex[],
  slices: Slices,
): Promise<boolean> {
  const own = new Set(members);
  for (const member of members) {
    if (slices.due()) await slices.turn();
    if (!edgesOf(member).every((to) => own.has(to))) return true;
  }
  return false;
}

/** A prefix is a vertex of its own, because many values may wait for one that many have. */
function* awaitedBy(
  value: PlannedValue,
  { baseOf, unmetOf }: Waiting,
  values: ReadonlyMap<string, PlannedValue>,
  keys: KeyIndex,
): Generator<Vertex, void, void> {
  const base = baseOf(value);
  if (base) {
    yield base;
    return;
  }
  for (const dependency of unmetOf(value)) {
    const { key, anyOf } = dependency;
    const named = key === undefined ? undefined : values.get(key);
    if (named) yield named;
    for (const prefix of anyOf?.prefixes ?? []) {
      if (!anyOf?.accepts) {
        if (keys.next(prefix).length > 0) yield prefix;
      } else
        for (const one of keys.withPrefix(prefix))
          if (matches(dependency, one)) yield values.get(one) as PlannedValue;
    }
  }
}
