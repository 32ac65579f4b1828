/** A datastore watcher between stores in memory and an event loop that records events. */
import type { KvStore } from '#datastore/api.ts';
import { ManualClock, seededRandom } from '#infra/clock/manual.ts';
import { type Logger, silentLogger } from '#infra/log/log.ts';
import type { ComponentState } from '#infra/status/status.ts';
import { EventQueueFullError } from '#plugins/controller/api/errors.ts';
import type { Event } from '#plugins/controller/api/event.ts';
import {
  DbResync,
  type DbResyncPayload,
  ExternalConfigChange,
  KubeStateChange,
  type KubeStateChangePayload,
} from '#plugins/controller/api/events.ts';
import type { DbWatcher } from '#plugins/dbwatcher/api.ts';
import { createDbWatcher, type StartGate } from '#plugins/dbwatcher/dbwatcher.ts';
import { FaultInjectingStore } from '#test/support/fault-injecting-store.ts';
import { MemoryStore } from '#test/support/memory-store.ts';

export const KSR = '/vnf-agent/contiv-ksr/';
export const AGENT_PREFIX = '/vnf-agent/node1/';

export const namespaceKey = (name: string) => `${KSR}k8s/namespace/${name}`;
export const interfaceKey = (name: string) => `${AGENT_PREFIX}config/vpp/v2/interfaces/${name}`;

export const namespaceText = (name: string, label?: string) =>
  JSON.stringify({ name, ...(label && { label: [{ key: 'l', value: label }] }) });
/** A record of a kind that permits nothing: one that cannot be read is ignored. */
export const nodeKey = (name: string) => `${KSR}k8s/node/${name}`;
export const nodeText = (name: string, provider_ID?: string) =>
  JSON.stringify({ name, provider_ID });
export const vppNodeKey = (id: number) => `${KSR}allocatedIDs/${id}`;
export const interfaceText = (name: string, mtu = 0) =>
  JSON.stringify({ name, type: 'SOFTWARE_LOOPBACK', mtu });

/** Until a change is in the mirror, when the event loop is idle. */
export const MIRROR_MS = 1_000;

/** Lets promises and slices run until nothing moves any more. */
export async function settle(): Promise<void> {
  for (let round = 0; round < 20; round++)
    await new Promise<void>((resolve) => setImmediate(resolve));
}

/** An event loop that records the pushed events. */
export class RecordingLoop {
  readonly events: Event[] = [];
  isIdle = true;
  /** Events that are not processed yet: what a test says. */
  queueLength = 0;
  readonly #waiting = new Set<{ readonly length: number; readonly resolve: () => void }>();
  /** Thrown instead of taking an event. */
  refusal: Error | undefined;
  /** How many events are taken before the queue is full. */
  room = Number.POSITIVE_INFINITY;
  refused = 0;

  push(event: Event): void {
    if (this.refusal || this.room <= 0) {
      this.refused++;
      throw this.refusal ?? new EventQueueFullError('queue with events is full');
    }
    this.room--;
    this.events.push(event);
  }

  whenShorterThan(length: number): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.add({ length, resolve });
    });
  }

  /** The loop has processed all but so many events. */
  processed(queueLength: number): void {
    this.queueLength = queueLength;
    for (const one of this.#waiting)
      if (queueLength < one.length) {
        this.#waiting.delete(one);
        one.resolve();
      }
  }

  get resyncs(): DbResyncPayload[] {
    return this.events.filter(DbResync.is).map(({ payload }) => payload);
  }

  get changes(): KubeStateChangePayload[] {
    return this.events.filter(KubeStateChange.is).map(({ payload }) => payload);
  }

  /** Everything since the last call, one line an event. */
  take(): string[] {
    return this.events.splice(0).map(lineOf);
  }
}

function lineOf(event: Event): string {
  if (DbResync.is(event)) {
    const { local, kubeState, externalConfig } = event.payload;
    const keys = Object.values(kubeState).flatMap((values) => Object.keys(values));
    const all = [...keys, ...Object.keys(externalConfig)].sort().join(' ');
    return `resync ${local ? 'local' : 'remote'}: ${all}`;
  }
  if (KubeStateChange.is(event)) {
    const { resource, key, previous, current } = event.payload;
    return `${resource} ${key}: ${labelOf(previous)} -> ${labelOf(current)}`;
  }
  if (ExternalConfigChange.is(event)) {
    const { source, values } = event.payload;
    return `${source} ${Object.entries(values).map(
      ([key, value]) => `${key}: ${value ? (value as { mtu: number }).mtu : '-'}`,
    )}`;
  }
  return event.kind.id;
}

function labelOf(value: object | undefined): string {
  if (!value) return '-';
  const { label, provider_ID } = value as { label?: { value: string }[]; provider_ID?: string };
  return label?.[0]?.value ?? (provider_ID || 'plain');
}

export interface WatcherHarness {
  readonly clock: ManualClock;
  readonly loop: RecordingLoop;
  /** The database itself, past all faults. */
  readonly database: MemoryStore;
  readonly cluster: FaultInjectingStore;
  readonly local: FaultInjectingStore;
  readonly watcher: DbWatcher;
  readonly states: [ComponentState, unknown][];
  readonly warnings: { key?: string; [name: string]: unknown }[];
  /** Content of the mirror. */
  mirror(): Promise<Record<string, string>>;
  /** Another watcher on the same stores, as after a restart of the agent. */
  restart(): WatcherHarness;
}

export interface WatcherHarnessOptions {
  readonly embedded?: boolean;
  readonly compareInterval?: string;
  readonly startGate?: StartGate;
  /** Of the random source; default 1. */
  readonly seed?: number;
  /** Keys that go first. */
  readonly ownPodKeys?: readonly string[];
}

export function watcherHarness(
  options: WatcherHarnessOptions = {},
  database = new MemoryStore(),
  mirrorStore: KvStore = new MemoryStore(),
): WatcherHarness {
  const clock = new ManualClock();
  const loop = new RecordingLoop();
  const cluster = new FaultInjectingStore(database);
  const local = new FaultInjectingStore(mirrorStore);
  const states: [ComponentState, unknown][] = [];
  const warnings: WatcherHarness['warnings'] = [];
  const log: Logger = {
    ...silentLogger,
    warn: (fields: object) => warnings.push({ ...fields }),
    error: (fields: object) => warnings.push({ ...fields }),
  };
  const watcher = createDbWatcher({
    loop,
    cluster,
    mirror: options.embedded ? undefined : local,
    startGate: options.startGate,
    nodeName: 'node1',
    agentPrefix: AGENT_PREFIX,
    config: {
      delayLocalResync: '5s',
      remoteDBProbingInterval: 3e9,
      remoteDBCompareInterval: options.compareInterval ?? '300h',
    },
    clock,
    random: seededRandom(options.seed ?? 1),
    log,
    ownPodKeys: () => options.ownPodKeys ?? [],
    reportState: (state, error) => states.push([state, error]),
  });
  return {
    clock,
    loop,
    database,
    cluster,
    local,
    watcher,
    states,
    warnings,
    mirror: async () => {
      const { entries } = await mirrorStore.list('');
      return Object.fromEntries(entries.map(({ key, value }) => [key, value]));
    },
    restart: () => watcherHarness(options, database, mirrorStore),
  };
}

/** Advances until the probe has run, and lets the consequences happen. */
export async function advance(made: WatcherHarness, ms: number): Promise<void> {
  await made.clock.advance(ms);
  await settle();
}

/** A started watcher on a database with two namespaces and an interface. */
export async function startedWatcher(options: WatcherHarnessOptions = {}): Promise<WatcherHarness> {
  const made = watcherHarness(options);
  await fill(made.database);
  made.watcher.start();
  await settle();
  return made;
}

export async function fill(database: KvStore): Promise<void> {
  for (const name of ['default', 'kube-system'])
    await database.put(namespaceKey(name), namespaceText(name));
  await database.put(interfaceKey('loop1'), interfaceText('loop1'));
}

export const WHOLE_RESYNC =
  'resync remote: config/vpp/v2/interfaces/loop1 k8s/namespace/default k8s/namespace/kube-system';
