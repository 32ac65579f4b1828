import type { KvEntry, KvSnapshot, KvStore } from '#datastore/api.ts';
import type { Clock } from '#infra/clock/clock.ts';
import type { Logger } from '#infra/log/log.ts';
import { Known } from './known.ts';
import type { Places } from './places.ts';

/** Values decoded at a stretch: some milliseconds. */
const SLICE = 64;

/** By prefix; each with the revision to follow it from. */
export type Snapshots = ReadonlyMap<string, KvSnapshot>;

/** Reads all that is watched. */
export async function readSnapshots(store: KvStore, places: Places): Promise<Snapshots> {
  const { prefixes } = places;
  const snapshots = await Promise.all(prefixes.map((prefix) => store.list(prefix)));
  return new Map(snapshots.map((snapshot, at) => [prefixes[at]!, snapshot]));
}

export function entriesOf(snapshots: Snapshots): KvEntry[] {
  return [...snapshots.values()].flatMap(({ entries }) => entries);
}

/** Makes sense of entries, a slice at a time. */
export async function knowAll(
  entries: readonly KvEntry[],
  places: Places,
  log: Logger,
  clock: Clock,
): Promise<Known> {
  const known = new Known(places, log);
  for (const [at, entry] of entries.entries()) {
    known.add(entry);
    if (at % SLICE === SLICE - 1) await clock.turn();
  }
  return known;
}
