/**
 * A database watcher on a real etcd that it reaches over a faulty link, a writer that writes all the
 * time, and faults that are injected one after the other. The events that the watcher pushes are
 * compared with the changes that an independent watch has seen.
 */
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { KvStore } from '#datastore/api.ts';
import { seededRandom } from '#infra/clock/manual.ts';
import { systemClock } from '#infra/clock/system.ts';
import { type Logger, silentLogger } from '#infra/log/log.ts';
import type { DbWatcher } from '#plugins/dbwatcher/api.ts';
import { createDbWatcher } from '#plugins/dbwatcher/dbwatcher.ts';
import { AGENT_PREFIX } from '#test/plugins/dbwatcher/watcher-harness.ts';
import { MemoryStore } from '#test/support/memory-store.ts';
import { EtcdServer } from '../etcd-server.ts';
import { FaultyLink } from '../faulty-link.ts';
import { assertCompleteAndOrdered, isSame, prefixes } from './assertions.ts';
import { ContinuousWriter } from './continuous-writer.ts';
import { EventRecorder, numberIn, type State } from './event-recorder.ts';
import { ReferenceWatch } from './reference-watch.ts';
import { LIMIT_MS, until } from './until.ts';

export interface Counts {
  rounds: number;
  resyncs: number;
  changes: number;
  /** Replays that were cut at least twice. */
  cutReplays: number;
  /** Lost watches by reason. */
  readonly lost: Map<string, number>;
}

export class WatcherTestbed {
  readonly counts: Counts = {
    rounds: 0,
    resyncs: 0,
    changes: 0,
    cutReplays: 0,
    lost: new Map(),
  };
  readonly #server: EtcdServer;
  /** One to each endpoint. */
  readonly #links: readonly FaultyLink[];
  readonly #folder: string;
  readonly #recorder = new EventRecorder();
  readonly #reference: ReferenceWatch;
  readonly #writer: ContinuousWriter;
  readonly #cluster: KvStore;
  /** Not over the faulty link, for reads of the actual state. */
  readonly #direct: KvStore;
  readonly #watcher: DbWatcher;

  /** @param members 1: what ETCD_TOPOLOGY says; 3: of one cluster */
  static async start(members: 1 | 3): Promise<WatcherTestbed> {
    const server = await EtcdServer.startWith(members === 3 ? { route: 'three' } : {});
    const links = await Promise.all(server.ports.map((port) => FaultyLink.start(port)));
    const folder = await mkdtemp(join(tmpdir(), 'watcher-testbed-'));
    const ground = new WatcherTestbed(server, links, folder);
    try {
      await ground.#writer.awaitWrites(10);
      await ground.#untilSettled();
      return ground;
    } catch (error) {
      await ground.close();
      throw error;
    }
  }

  private constructor(server: EtcdServer, links: readonly FaultyLink[], folder: string) {
    this.#server = server;
    this.#links = links;
    this.#folder = folder;
    this.#reference = new ReferenceWatch(server.memberPorts);
    this.#writer = new ContinuousWriter(server.store(server.ports, 3000));
    this.#direct = server.store(server.ports, LIMIT_MS);
    this.#cluster = server.store(links.map(({ port }) => port));
    this.#watcher = createDbWatcher({
      loop: this.#recorder,
      cluster: this.#cluster,
      mirror: new MemoryStore(),
      nodeName: 'node1',
      agentPrefix: AGENT_PREFIX,
      config: {
        delayLocalResync: '1h',
        remoteDBProbingInterval: '10s',
        remoteDBCompareInterval: '1s',
      },
      clock: systemClock,
      random: seededRandom(5),
      log: this.#log(),
      reportState: () => undefined,
    });
    this.#watcher.start();
  }

  async close(): Promise<void> {
    await this.#watcher.close();
    await this.#writer.close();
    await this.#reference.close();
    for (const store of [this.#cluster, this.#direct]) await store.close();
    for (const each of [...this.#links, this.#server]) await each.close();
    await rm(this.#folder, { recursive: true });
  }

  /** Kills etcd under the writer and restarts it. */
  kill(): Promise<void> {
    return this.#round(async (server) => {
      const { failures } = this.#writer;
      await server.kill();
      await until('a write fails', () => this.#writer.failures > failures);
      await server.run();
    });
  }

  /** Suspends and resumes etcd. */
  stop(): Promise<void> {
    return this.#round(async (server) => {
      const { failures } = this.#writer;
      await server.suspend();
      await until('a write fails', () => this.#writer.failures > failures);
      server.resume();
    });
  }

  /** Compacts the history while the watcher is disconnected. */
  compact(): Promise<void> {
    return this.#round(async (server) => {
      const { resyncs } = this.#recorder;
      this.#cutLinks();
      await this.#writer.awaitWrites(30);
      await this.#untilReferenceCaughtUp();
      await server.compact();
      await this.#writer.awaitWrites(5);
      this.#openLinks();
      await until('a resync', () => this.#recorder.resyncs > resyncs);
    });
  }

  /** Restores etcd from an older backup. */
  restore(): Promise<void> {
    return this.#round(async (server) => {
      const { resyncs } = this.#recorder;
      const file = join(this.#folder, `backup-${this.counts.rounds}`);
      const revision = server.backup(file);
      await this.#writer.awaitWrites(30);
      this.#cutLinks();
      await this.#untilReferenceCaughtUp();
      await server.kill();
      assertCompleteAndOrdered(this.#recorder.sessions, this.#reference);
      this.#recorder.expectResync();
      await server.restore(file);
      this.#reference.rollBack(revision);
      await server.run();
      await this.#writer.awaitWrites(5);
      this.#openLinks();
      await until('a resync', () => this.#recorder.resyncs > resyncs);
    });
  }

  /** Breaks the connection repeatedly in the middle of a long replay. */
  cut(): Promise<void> {
    return this.#round(async () => {
      this.#cutLinks();
      await this.#writer.burst(2500, this.#direct);
      // Enough for one message of the replay: etcd puts a thousand revisions into each.
      for (const link of this.#links) link.cutAfter = 200_000;
      this.#openLinks();
      const connections = this.#connections;
      await until('three connections', () => this.#connections >= connections + 3);
      this.counts.cutReplays++;
      for (const link of this.#links) link.cutAfter = Number.POSITIVE_INFINITY;
    });
  }

  /** Kills and restarts the leader of three members. */
  loseLeader(): Promise<void> {
    return this.#round(async (server) => {
      const leader = server.leader();
      await leader.kill();
      await this.#writer.awaitWrites(30);
      await server.run();
    });
  }

  async #round(inject: (server: EtcdServer) => Promise<void>): Promise<void> {
    await this.#writer.awaitWrites(10);
    await inject(this.#server);
    await this.#writer.awaitWrites(20);
    await this.#untilSettled();
    this.counts.rounds++;
  }

  #cutLinks(): void {
    for (const link of this.#links) {
      link.closed = true;
      link.cut();
    }
  }

  #openLinks(): void {
    for (const link of this.#links) link.closed = false;
  }

  /** Connections of the watcher so far. */
  get #connections(): number {
    return this.#links.reduce((sum, { connections }) => sum + connections, 0);
  }

  /** Counters of the writer, for reports. */
  get writer(): Pick<ContinuousWriter, 'acknowledged' | 'failures' | 'lastFailure'> {
    return this.#writer;
  }

  /** Pauses the writer; then the watcher, the reference watch and etcd must have the same state. */
  async #untilSettled(): Promise<void> {
    await this.#writer.pause();
    let fresh: State = new Map();
    await until('the state from the events equals a fresh read', async () => {
      if (!this.#watcher.status.watching) return false;
      try {
        fresh = await this.#freshState();
      } catch {
        return false;
      }
      return isSame(fresh, this.#recorder.state);
    });
    await this.#untilReferenceCaughtUp();
    assertCompleteAndOrdered(this.#recorder.sessions, this.#reference);
    this.#recorder.startSession();
    this.#reference.fold();
    assert.equal(this.#watcher.status.missedChanges, 0, 'the comparison found missed changes');
    this.counts.resyncs = this.#recorder.resyncs;
    this.counts.changes = this.#recorder.changes;
    this.#writer.resume();
  }

  async #freshState(): Promise<State> {
    const lists = await Promise.all(prefixes.map((prefix) => this.#direct.list(prefix)));
    const entries = lists.flatMap(({ entries }) => entries);
    return new Map(entries.map(({ key, value }) => [key, numberIn(value)!]));
  }

  /** Waits until the reference watch has every change that the watcher can have received. */
  async #untilReferenceCaughtUp(): Promise<void> {
    const revision = this.#server.revision();
    await until('the reference watch has caught up', () => this.#reference.revision >= revision);
  }

  #log(): Logger {
    return {
      ...silentLogger,
      warn: (fields: object, text?: string) => {
        if (text !== 'watch lost') return;
        const reason = String((fields as { reason?: string }).reason).replace(/\d+/g, 'N');
        this.counts.lost.set(reason, (this.counts.lost.get(reason) ?? 0) + 1);
      },
    };
  }
}
