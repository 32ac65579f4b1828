import type { KvEntry, KvSnapshot, KvStore } from '#datastore/api.ts';
import type { Clock } from '#infra/clock/clock.ts';
import type { Logger } from '#infra/log/log.ts';
import { resourceList } from '#kubernetes/resources/resources.ts';
import type { DbResyncPayload } from '#plugins/controller/api/events.ts';
import type { KeySpace } from './key-space.ts';
import { type LastKnownEntry, LastKnownState } from './last-known-state.ts';

/** Values that are decoded per slice: a few milliseconds. */
const SLICE = 64;

/** By prefix; each with the revision from which to watch. */
export type Snapshots = ReadonlyMap<string, KvSnapshot>;

/** Reads all watched keys. */
export async function readSnapshots(store: KvStore, keySpace: KeySpace): Promise<Snapshots> {
  const { prefixes } = keySpace;
  const snapshots = await Promise.all(prefixes.map((prefix) => store.list(prefix)));
  return new Map(snapshots.map((snapshot, at) => [prefixes[at]!, snapshot]));
}

export function entriesOf(snapshots: Snapshots): KvEntry[] {
  return [...snapshots.values()].flatMap(({ entries }) => entries);
}

/** Payload of a resync, without invalid values. */
export type ResyncContent = Pick<DbResyncPayload, 'kubeState' | 'externalConfig'>;

/** Decodes entries in slices. */
export async function decodeEntries(
  entries: readonly KvEntry[],
  keySpace: KeySpace,
  log: Logger,
  clock: Clock,
): Promise<{ known: LastKnownState; content: ResyncContent }> {
  const known = new LastKnownState(keySpace, log);
  const kubeState: Record<string, Record<string, object>> = {};
  for (const { keyword } of resourceList) kubeState[keyword] = {};
  const externalConfig: Record<string, object> = {};
  const keep = ({ watchedKey, value }: LastKnownEntry) => {
    if (value === undefined) return;
    if (watchedKey.resource === undefined) externalConfig[watchedKey.key] = value;
    else kubeState[watchedKey.resource]![watchedKey.key] = value;
  };
  for (const [at, entry] of entries.entries()) {
    const added = known.add(entry);
    if (added) keep(added);
    if (at % SLICE === SLICE - 1) await clock.turn();
  }
  return { known, content: { kubeState, externalConfig } };
}
