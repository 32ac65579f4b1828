/** A cluster of Kubernetes and the reflectors of its state, without network, on virtual time. */
import type { KvStore } from '#datastore/api.ts';
import type { Timer } from '#infra/clock/clock.ts';
import { ManualClock, seededRandom } from '#infra/clock/manual.ts';
import { type Logger, silentLogger } from '#infra/log/log.ts';
import type { ObjectName } from '#ksr/api-server/api.ts';
import { Leader } from '#ksr/leader.ts';
import { createReflector, type Reflector } from '#ksr/records/reflector.ts';
import { RemovedNodes } from '#ksr/records/removed-nodes.ts';
import { recordsOf } from '#test/integration/support/reflected-state.ts';
import { FaultInjectingStore } from '#test/support/fault-injecting-store.ts';
import { MemoryStore } from '#test/support/memory-store.ts';
import { MemoryElection } from './memory-election.ts';

export const PREFIX = '/vnf-agent/contiv-ksr/';
const REFRESH_MS = 100;

export interface TestObject {
  readonly kind: string;
  readonly apiVersion: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly creationTimestamp?: string;
  };
  readonly [field: string]: unknown;
}

/** One process of contiv-ksr. */
export interface TestInstance {
  readonly store: FaultInjectingStore;
  readonly reflector: Reflector;
  readonly leader: Leader;
  readonly removedNodes: RemovedNodes;
}

export class ReflectedCluster {
  readonly clock = new ManualClock();
  readonly database = new MemoryStore();
  readonly election = new MemoryElection();
  /** Keys of all writes to the database under the records' prefix, without the statistics. */
  readonly writes: string[] = [];
  /** Kinds that the API server does not have at present: a list ends this. */
  readonly absentKinds = new Set<string>();
  readonly #log: Logger;
  /** By kind, then by name. */
  readonly #objects = new Map<string, Map<string, TestObject>>();
  /** Deletions that a watch reports when it continues, by kind. */
  readonly #missedDeletions = new Map<string, ObjectName[]>();
  /** Kinds whose watch works, as far as this process knows. */
  readonly #watched = new Set<string>();
  /** When a watch that was begun again continues, by kind. */
  readonly #refreshes = new Map<string, Timer>();
  #instance: TestInstance;

  constructor(log: Logger = silentLogger) {
    this.#log = log;
    this.#instance = this.#newInstance();
    this.listAll();
  }

  get instance(): TestInstance {
    return this.#instance;
  }

  #newInstance(): TestInstance {
    const { clock } = this;
    const random = seededRandom(1);
    const log = this.#log;
    const store = new FaultInjectingStore(this.database);
    store.beforeWrite = ({ keys }) => {
      this.writes.push(...keys.filter((key) => !key.endsWith('status/gauges')));
    };
    const reflector = createReflector({ prefix: PREFIX, readers: 'mixed', clock, log });
    const { nodes } = reflector;
    const removedNodes = new RemovedNodes({ nodes, store, prefix: PREFIX, clock, random, log });
    const election = this.election.candidate(store);
    const parts = { clock, random, log, prefix: PREFIX, removedNodes };
    const refresh = (kinds: readonly string[]) => {
      for (const kind of kinds) this.#refresh(kind);
    };
    const leader = new Leader({
      ...parts,
      election,
      store,
      reflector,
      refresh,
      isCutOff: () => this.#watched.size === 0,
    });
    leader.start();
    removedNodes.start();
    return { store, reflector, leader, removedNodes };
  }

  /** The process is killed, and another one starts and lists everything, unless the API server is unavailable. */
  restart({ lists = true } = {}): void {
    this.kill();
    this.#watched.clear();
    this.#instance = this.#newInstance();
    if (lists) this.listAll();
  }

  kill(): void {
    for (const kind of this.#refreshes.keys()) this.#cancelRefresh(kind);
    this.#instance.store.disconnect('killed');
    void this.#instance.leader.close();
    void this.#instance.removedNodes.close();
    this.election.kill();
  }

  objects(kind: string): TestObject[] {
    return [...(this.#objects.get(kind)?.values() ?? [])];
  }

  put(...objects: readonly TestObject[]): void {
    for (const object of objects) {
      this.#store(object);
      this.#handlers(object.kind).changed([withoutKind(object)]);
    }
  }

  delete(kind: string, name: string, namespace = ''): void {
    if (!this.#objects.get(kind)?.delete(`${namespace}/${name}`)) return;
    this.#handlers(kind).deleted({ name, namespace });
  }

  /** Changes without an event: the watch was interrupted. A list shows them. */
  putUnseen(object: TestObject): void {
    this.#store(object);
  }

  deleteUnseen(kind: string, name: string, namespace = ''): void {
    if (!this.#objects.get(kind)?.delete(`${namespace}/${name}`)) return;
    const missed = this.#missedDeletions.get(kind) ?? [];
    this.#missedDeletions.set(kind, [...missed, { name, namespace }]);
  }

  /** @param page objects at once; @param until only so many objects: the list breaks off */
  list(kind: string, page = 3, until = Number.POSITIVE_INFINITY): void {
    const handlers = this.#handlers(kind);
    const objects = this.objects(kind);
    handlers.listing();
    for (let at = 0; at < Math.min(objects.length, until); at += page)
      handlers.changed(objects.slice(at, at + page).map(withoutKind));
    if (until < Number.POSITIVE_INFINITY) return;
    this.absentKinds.delete(kind);
    this.#missedDeletions.delete(kind);
    this.#watched.add(kind);
    handlers.listed();
  }

  listAll(): void {
    for (const { kind } of this.#instance.reflector.watches) this.list(kind.kind);
  }

  interrupt(kind: string): void {
    this.#watched.delete(kind);
    this.#cancelRefresh(kind);
    this.#handlers(kind).interrupted();
  }

  /** The watch of a kind continues, and delivers what it has missed. */
  resume(kind: string): void {
    if (this.absentKinds.has(kind)) return;
    this.#watched.add(kind);
    for (const name of this.#missedDeletions.get(kind) ?? []) this.#handlers(kind).deleted(name);
    this.#missedDeletions.delete(kind);
    this.#handlers(kind).changed(this.objects(kind).map(withoutKind));
    this.#handlers(kind).resumed();
  }

  /** A watch that works continues soon; another one when the test says so. */
  #refresh(kind: string): void {
    this.#handlers(kind).interrupted();
    this.#cancelRefresh(kind);
    if (!this.#watched.has(kind)) return;
    const timer = this.clock.timer(REFRESH_MS, () => this.resume(kind));
    this.#refreshes.set(kind, timer);
  }

  #cancelRefresh(kind: string): void {
    this.#refreshes.get(kind)?.cancel();
    this.#refreshes.delete(kind);
  }

  absent(kind: string): void {
    this.#watched.delete(kind);
    this.#cancelRefresh(kind);
    this.absentKinds.add(kind);
    this.#handlers(kind).absent();
  }

  /** The records that the database must have. */
  expected(): ReadonlyMap<string, string> {
    const all = [...this.#objects.values()].flatMap((objects) => [...objects.values()]);
    return recordsOf(all, 'mixed');
  }

  /** The records in the database. */
  async records(store: KvStore = this.database): Promise<ReadonlyMap<string, string>> {
    const { entries } = await store.list(`${PREFIX}k8s/`);
    return new Map(entries.map(({ key, value }) => [key, value]));
  }

  async settle(ms = 10_000): Promise<void> {
    await this.clock.advance(ms);
  }

  #store(object: TestObject): void {
    const { name, namespace = '' } = object.metadata;
    const ofKind = this.#objects.get(object.kind) ?? new Map<string, TestObject>();
    this.#objects.set(object.kind, ofKind.set(`${namespace}/${name}`, object));
  }

  #handlers(kind: string) {
    const found = this.#instance.reflector.watches.find((watch) => watch.kind.kind === kind);
    if (!found) throw new Error(`no watch of ${kind}`);
    return found.handlers;
  }
}

/** Items of a list have no kind. */
function withoutKind({ kind: _, apiVersion: __, ...rest }: TestObject): object {
  return rest;
}
