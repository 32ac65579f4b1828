/**
 * What is left when nothing can be placed any more: values that wait for each other, over whatever
 * detours, by `anyOf` dependencies too.
 */

import type { Slices } from '#infra/clock/slices.ts';
import type { Dependency } from '../api/descriptor.ts';
import { byKey } from '../graph/by-key.ts';
import { KeyIndex } from '../graph/key-index.ts';
import { names } from './planned-graph.ts';
import type { Draft } from './planned-value.ts';
import { components } from './strongly-connected.ts';

/** A value, or all values whose keys have a prefix. */
type Place = Draft | string;

export interface Waiting {
  /** The base of a derived value, if it has to come first. */
  baseOf(draft: Draft): Draft | undefined;
  unmetOf(draft: Draft): readonly Dependency[];
}

/** Of each knot of values that waits for none of the others, the first by key. */
export async function waysOut(
  left: readonly Draft[],
  waiting: Waiting,
  slices: Slices,
): Promise<ReadonlySet<Draft>> {
  const known = new Map<string, Draft>();
  const keys = new KeyIndex();
  for (const draft of left) {
    if (slices.due()) await slices.turn();
    known.set(draft.key, draft);
    keys.add(draft.key);
  }
  const draftsOf = (found: Iterable<string>) => [...found].map((key) => known.get(key) as Draft);
  const edges = new Map<Place, readonly Place[]>();
  const edgesOf = (place: Place): readonly Place[] => {
    let found = edges.get(place);
    if (!found) {
      found =
        typeof place === 'string'
          ? draftsOf(keys.withPrefix(place))
          : [...placesOf(place, waiting, known, keys)];
      edges.set(place, found);
    }
    return found;
  };
  const first = new Set<Draft>();
  for (const members of components<Place>(left, edgesOf)) {
    if (slices.due()) await slices.turn();
    if (members.length === 0 || (await leadsOut(members, edgesOf, slices))) continue;
    const drafts = members.filter((member) => typeof member !== 'string');
    first.add(drafts.reduce((a, b) => (byKey(a, b) < 0 ? a : b)));
  }
  return first;
}

async function leadsOut(
  members: readonly Place[],
  edgesOf: (place: Place) => readonly Place[],
  slices: Slices,
): Promise<boolean> {
  const own = new Set(members);
  for (const member of members) {
    if (slices.due()) await slices.turn();
    if (!edgesOf(member).every((to) => own.has(to))) return true;
  }
  return false;
}

/** What a value waits for. Many may wait for a prefix that many have: it is a place of its own. */
function* placesOf(
  draft: Draft,
  { baseOf, unmetOf }: Waiting,
  known: ReadonlyMap<string, Draft>,
  keys: KeyIndex,
): Generator<Place, void, void> {
  const base = baseOf(draft);
  if (base) {
    yield base;
    return;
  }
  for (const dependency of unmetOf(draft)) {
    const { key, anyOf } = dependency;
    const byName = key === undefined ? undefined : known.get(key);
    if (byName) yield byName;
    for (const prefix of anyOf?.prefixes ?? []) {
      if (!anyOf?.accepts) {
        if (keys.next(prefix).length > 0) yield prefix;
      } else
        for (const one of keys.withPrefix(prefix))
          if (names(dependency, one)) yield known.get(one) as Draft;
    }
  }
}
