import {
  type KvEntry,
  type KvSnapshot,
  type KvStore,
  StoreUnavailableError,
} from '#datastore/api.ts';
import type { Clock } from '#infra/clock/clock.ts';
import { Slices } from '#infra/clock/slices.ts';
import type { Logger } from '#infra/log/log.ts';
import { resourceList } from '#kubernetes/resources/resources.ts';
import type { DbResyncPayload } from '#plugins/controller/api/events.ts';
import type { KeySpace } from './key-space.ts';
import { type LastKnownEntry, LastKnownState } from './last-known-state.ts';

/** By prefix; each with the revision from which to watch. */
export type Snapshots = ReadonlyMap<string, KvSnapshot>;

/** All watched keys of one database. */
export interface DatabaseContent {
  /** See `KvStore.identity`. */
  readonly identity: string;
  readonly snapshots: Snapshots;
}

/** Reads all watched keys. @throws StoreUnavailableError, also if the database was replaced meanwhile */
export async function readDatabase(store: KvStore, keySpace: KeySpace): Promise<DatabaseContent> {
  const identity = await store.identity();
  const snapshots = await readSnapshots(store, keySpace);
  if ((await store.identity()) !== identity)
    throw new StoreUnavailableError('the database was replaced while it was read', {
      where: store.name,
    });
  return { identity, snapshots };
}

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

/** Decoded entries: as the last known state, and as the payload of a resync. */
export class DecodedEntries {
  readonly known: LastKnownState;
  readonly #kubeState: Record<string, Record<string, object>> = {};
  readonly #externalConfig: Record<string, object> = {};

  constructor(keySpace: KeySpace, log: Logger) {
    this.known = new LastKnownState(keySpace, log);
    for (const { keyword } of resourceList) this.#kubeState[keyword] = {};
  }

  get content(): ResyncContent {
    return { kubeState: this.#kubeState, externalConfig: this.#externalConfig };
  }

  add(entry: KvEntry): void {
    this.#put(this.known.add(entry));
  }

  /** An invalid value changes nothing, also in a resync: the last valid one applies. */
  keepLastValid(before: LastKnownState): void {
    for (const key of this.known.broken.keys()) {
      const entry = before.get(key);
      if (entry?.value) this.#put(this.known.keepLastValid(key, entry));
    }
  }

  #put(added: LastKnownEntry | undefined): void {
    if (added?.value === undefined) return;
    const { resource, key } = added.watchedKey;
    if (resource === undefined) this.#externalConfig[key] = added.value;
    else this.#kubeState[resource]![key] = added.value;
  }
}

/** Decodes entries in slices. */
export async function decodeEntries(
  entries: readonly KvEntry[],
  keySpace: KeySpace,
  log: Logger,
  clock: Clock,
): Promise<DecodedEntries> {
  const decoded = new DecodedEntries(keySpace, log);
  const slices = new Slices(clock);
  for (const entry of entries) {
    // the endpoints of one service take milliseconds
    if (slices.dueNow()) await slices.turn();
    decoded.add(entry);
  }
  return decoded;
}
