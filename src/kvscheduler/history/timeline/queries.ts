/** Queries of the timeline: one key over time, all keys at one time, and counts of flags. */

import type { FlagName, FlagStats } from '#documents/scheduler/timeline.ts';
import { type Slices, sortInSlices } from '#infra/clock/slices.ts';
import { deepEqual } from '../../graph/equality.ts';
import { changesOf, MovingPresence } from './moving-presence.ts';
import { PresenceAt } from './presence.ts';
import { flagsOf, type RecordedNode, recordedNode, type Span, targetsOf } from './recorded-node.ts';
import { type KeyRevisions, type Revision, revisionAt, revisionsOf } from './revision.ts';
import type { Timeline } from './timeline.ts';

interface CurrentRevision {
  readonly key: string;
  readonly of: KeyRevisions;
  readonly revision: Revision;
}

/** All nodes at a time in microseconds since the epoch, in the order of the keys. */
export async function snapshot(
  timeline: Timeline,
  time: number,
  slices: Slices,
): Promise<Iterable<RecordedNode>> {
  const current: CurrentRevision[] = [];
  for (const of of timeline.all()) {
    if (slices.due()) await slices.turn();
    const revision = revisionAt(of, time);
    if (revision) current.push({ key: of.key, of, revision });
  }
  const sorted = await sortInSlices(current, (a, b) => (a.key < b.key ? -1 : 1), slices);
  const presence = new PresenceAt();
  for (const { key, revision } of sorted) {
    if (slices.due()) await slices.turn();
    presence.add(key, revision.baseKey);
  }
  return recordedNodes(sorted, presence);
}

function* recordedNodes(
  current: readonly CurrentRevision[],
  presence: PresenceAt,
): Generator<RecordedNode, void, void> {
  for (const { key, of, revision } of current) {
    const { since, until } = revision;
    const targets = targetsOf(key, revision, presence);
    yield recordedNode(of, revision, { since, until, targets, targetUpdateOnly: false });
  }
}

/** The kept revisions of one key, the oldest first; none if the key is unknown. */
export async function keyTimeline(
  timeline: Timeline,
  key: string,
  slices: Slices,
): Promise<Iterable<RecordedNode>> {
  const chain = timeline.get(key);
  if (!chain) return [];
  const revisions = [...revisionsOf(chain)];
  const presence = new MovingPresence(await changesOf(timeline, key, revisions, slices));
  return recordedSpans(chain, revisions, presence);
}

/**
 * The last revisions of one key, the oldest first, without its relations: unlike `keyTimeline` it does not
 * look at other keys.
 */
export function* lastRevisions(
  timeline: Timeline,
  key: string,
  count: number,
): Generator<RecordedNode, void, void> {
  const chain = timeline.get(key);
  if (!chain || count === 0) return;
  let first = chain.last;
  for (let i = 1; i < count && first?.before; i++) first = first.before;
  for (let revision = first; revision; revision = revision.after) {
    const { since, until } = revision;
    yield recordedNode(chain, revision, { since, until, targets: [], targetUpdateOnly: false });
  }
}

function* recordedSpans(
  chain: KeyRevisions,
  revisions: readonly Revision[],
  presence: MovingPresence,
): Generator<RecordedNode, void, void> {
  for (const revision of revisions)
    for (const span of spansOf(chain.key, revision, presence))
      yield recordedNode(chain, revision, span);
}

/** A revision, split at the times at which a related key was added or removed. */
function* spansOf(
  key: string,
  revision: Revision,
  presence: MovingPresence,
): Generator<Span, void, void> {
  let { since } = revision;
  presence.moveTo(since);
  let targets = targetsOf(key, revision, presence);
  let targetUpdateOnly = false;
  for (;;) {
    const next = presence.nextChange;
    const isOver = revision.until !== undefined && next !== undefined && next >= revision.until;
    if (next === undefined || isOver) break;
    presence.moveTo(next);
    const changed = targetsOf(key, revision, presence);
    if (deepEqual(targets, changed)) continue;
    yield { since, until: next, targets, targetUpdateOnly };
    since = next;
    targets = changed;
    targetUpdateOnly = true;
  }
  yield { since, until: revision.until, targets, targetUpdateOnly };
}

/** The key at this time; undefined: unknown. */
export async function keyAt(
  timeline: Timeline,
  key: string,
  time: number,
  slices: Slices,
): Promise<RecordedNode | undefined> {
  const chain = timeline.get(key);
  const revision = chain && revisionAt(chain, time);
  if (!revision) return undefined;
  const presence = new MovingPresence(await changesOf(timeline, key, [revision], slices));
  for (const span of spansOf(key, revision, presence))
    if (span.since <= time && (span.until === undefined || time < span.until))
      return recordedNode(chain, revision, span);
  return undefined;
}

/** Counts the values of a flag over all kept revisions. */
export async function flagStats(
  timeline: Timeline,
  flag: FlagName,
  prefixes: readonly string[],
  slices: Slices,
): Promise<FlagStats> {
  let total = 0;
  const counts = new Map<string, number>();
  for (const chain of timeline.all()) {
    if (slices.due()) await slices.turn();
    const { key, descriptor } = chain;
    if (prefixes.length > 0 && !prefixes.some((prefix) => key.startsWith(prefix))) continue;
    for (const revision of revisionsOf(chain)) {
      if (slices.due()) await slices.turn();
      const value = flagsOf(revision, descriptor?.name)[flag];
      if (value === undefined) continue;
      total++;
      counts.set(value, (counts.get(value) ?? 0) + 1);
    }
  }
  return { TotalCount: total, PerValueCount: Object.fromEntries(counts) };
}
