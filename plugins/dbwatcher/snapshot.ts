import type { KvEntry, KvSnapshot, KvStore } from '#datastore/api.ts';
import type { Clock } from '#infra/clock/clock.ts';
import type { Logger } from '#infra/log/log.ts';
import { resourceList } from '#kubernetes/resources/resources.ts';
import type { DbResyncPayload } from '#plugins/controller/api/events.ts';
import { Known, type KnownEntry } from './known.ts';
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

/** All that a resync carries; broken values are left out. */
export type Content = Pick<DbResyncPayload, 'kubeState' | 'externalConfig'>;

/** Makes sense of entries, a slice at a time. */
export async function knowAll(
  entries: readonly KvEntry[],
  places: Places,
  log: Logger,
  clock: Clock,
): Promise<{ known: Known; content: Content }> {
  const known = new Known(places, log);
  const kubeState: Record<string, Record<string, object>> = {};
  for (const { keyword } of resourceList) kubeState[keyword] = {};
  const externalConfig: Record<string, object> = {};
  const keep = ({ place, value }: KnownEntry) => {
    if (value === undefined) return;
    if (place.resource === undefined) externalConfig[place.key] = value;
    else kubeState[place.resource]![place.key] = value;
  };
  for (const [at, entry] of entries.entries()) {
    const added = known.add(entry);
    if (added) keep(added);
    if (at % SLICE === SLICE - 1) await clock.turn();
  }
  return { known, content: { kubeState, externalConfig } };
}
