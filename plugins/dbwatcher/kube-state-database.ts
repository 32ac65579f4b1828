/**
 * The state of Kubernetes in a database, for tools that inspect or reconcile a database without an
 * agent. External configuration is not touched.
 */
import type { KvStore } from '#datastore/api.ts';
import type { Clock } from '#infra/clock/clock.ts';
import type { Logger } from '#infra/log/log.ts';
import {
  type AnyResource,
  REFLECTOR_PREFIX,
  resourceList,
} from '#kubernetes/resources/resources.ts';
import { valueText } from '#kubernetes/resources/value-text.ts';
import type { NonBlockingEvent } from '#plugins/controller/api/event.ts';
import {
  DbResync,
  type DbResyncPayload,
  type KubeSnapshot,
} from '#plugins/controller/api/events.ts';
import { KeySpace } from './key-space.ts';
import { decodeEntries } from './snapshot.ts';

/** etcd accepts 128 operations per transaction by default. */
const BATCH = 100;

export interface LoadedKubeState {
  /** The event that an agent would process. */
  readonly event: NonBlockingEvent<DbResyncPayload>;
  /** The same values by their keys in the database. */
  readonly values: ReadonlyMap<string, object>;
}

/**
 * Reads all records of the reflectors from a database; invalid ones are ignored with a warning.
 * @param store as a whole, without a prefix
 * @throws StoreUnavailableError and other errors of the store
 */
export async function loadKubeStateForResync(
  store: Pick<KvStore, 'list'>,
  clock: Clock,
  log: Logger,
): Promise<LoadedKubeState> {
  const { entries } = await store.list(REFLECTOR_PREFIX);
  const { content } = await decodeEntries(entries, new KeySpace(REFLECTOR_PREFIX), log, clock);
  const { kubeState } = content;
  const values = new Map<string, object>();
  for (const ofResource of Object.values(kubeState))
    for (const [key, value] of Object.entries(ofResource))
      values.set(REFLECTOR_PREFIX + key, value);
  return { event: DbResync.event({ local: false, kubeState, externalConfig: {} }), values };
}

/**
 * Makes a database contain exactly this state of Kubernetes: missing and different records are
 * written, in batches; then all others are deleted. If a call is interrupted, the next call
 * completes it.
 * @param store as a whole, without a prefix
 * @throws TypeError for an unknown resource; StoreUnavailableError and what the store throws
 */
export async function resyncDatabase(
  store: Pick<KvStore, 'list' | 'putAll'>,
  kubeState: KubeSnapshot,
  clock: Clock,
): Promise<void> {
  const wanted = new Map<string, string>();
  for (const [keyword, values] of Object.entries(kubeState)) {
    const resource = resourceOf(keyword);
    for (const [key, value] of Object.entries(values)) {
      wanted.set(REFLECTOR_PREFIX + key, valueText(resource, value));
      if (wanted.size % BATCH === 0) await clock.turn();
    }
  }
  const surplus: string[] = [];
  for (const { key, value } of (await store.list(REFLECTOR_PREFIX)).entries) {
    if (wanted.get(key) === value) wanted.delete(key);
    else if (!wanted.has(key)) surplus.push(key);
  }
  await write(store, [...wanted]);
  await write(
    store,
    surplus.map((key) => [key, undefined]),
  );
}

async function write(
  store: Pick<KvStore, 'putAll'>,
  changes: readonly (readonly [string, string | undefined])[],
): Promise<void> {
  for (let from = 0; from < changes.length; from += BATCH)
    await store.putAll(new Map(changes.slice(from, from + BATCH)));
}

function resourceOf(keyword: string): AnyResource {
  const resource = resourceList.find((one) => one.keyword === keyword);
  if (!resource) throw new TypeError(`no resource has the keyword ${keyword}`);
  return resource;
}
