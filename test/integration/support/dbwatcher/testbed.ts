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
import { EtcdStore } from '#datastore/etcd/store.ts';
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
  readonly #members: readonly EtcdServer[];
  readonly #links: readonly FaultyLink[];
  readonly #folder: string;
  readonly #recorder = new EventRecorder();
  readonly #reference: ReferenceWatch;
  readonly #writer: ContinuousWriter;
  readonly #cluster: KvStore;
  /** Not over the faulty link, for reads of the actual state. */
  readonly #direct: KvStore;
  readonly #watcher: DbWatcher;

  /** @param members one, or three of one cluster */
  static async start(members: 1 | 3): Promise<WatcherTestbed> {
    const servers = members === 1 ? [await EtcdServer.start()] : await EtcdServer.startCluster();
    const links = await Promise.all(servers.map(({ port }) => FaultyLink.start(port)));
    const folder = await mkdtemp(join(tmpdir(), 'watcher-testbed-'));
    const ground = new WatcherTestbed(servers, links, folder);
    try {
      await ground.#writer.awaitWrites(10);
      await ground.#untilSettled();
      return ground;
    } catch (error) {
      await ground.close();
      throw error;
    }
  }

  private constructor(members: EtcdServer[], links: FaultyLink[], folder: string) {
    this.#members = members;
    this.#links = links;
    this.#folder = folder;
    const store = (ports: readonly { readonly port: number }[], operationTimeoutMs = 1000) =>
      new EtcdStore(
        {
          endpoints: ports.map(({ port }) => `127.0.0.1:${port}`),
          operationTimeoutMs,
          reconnectIntervalMs: 200,
        },
        systemClock,
      );
    this.#reference = new ReferenceWatch(members.map(({ port }) => port));
    this.#writer = new ContinuousWriter(store(members, 3000));
    this.#direct = store(members, LIMIT_MS);
    this.#cluster = store(links);
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
    for (const each of [...this.#links, ...this.#members]) await each.close();
    await rm(this.#folder, { recursive: true });
  }

  /** Kills etcd under the writer and restarts it. */
  kill(): Promise<void> {
    return this.#round(async ([member]) => {
      const { failures } = this.#writer;
      await member.kill();
      await until('a write fails', () => this.#writer.failures > failures);
      await member.run();
    });
  }

  /** Suspends and resumes etcd. */
  stop(): Promise<void> {
    return this.#round(async ([member]) => {
      const { failures } = this.#writer;
      await member.suspend();
      await until('a write fails', () => this.#writer.failures > failures);
      member.resume();
    });
  }

  /** Compacts the history while the watcher is disconnected. */
  compact(): Promise<void> {
    return this.#round(async ([member], [link]) => {
      const { resyncs } = this.#recorder;
      link.closed = true;
      link.cut();
      await this.#writer.awaitWrites(30);
      await this.#untilReferenceCaughtUp();
      await member.compact();
      await this.#writer.awaitWrites(5);
      link.closed = false;
      await until('a resync', () => this.#recorder.resyncs > resyncs);
    });
  }

  /** Restores etcd from an older backup. */
  restore(): Promise<void> {
    return this.#round(async ([member], [link]) => {
      const { resyncs } = this.#recorder;
      const file = join(this.#folder, `backup-${this.counts.rounds}`);
      const revision = member.backup(file);
      await this.#writer.awaitWrites(30);
      link.closed = true;
      link.cut();
      await this.#untilReferenceCaughtUp();
      await member.kill();
      assertCompleteAndOrdered(this.#recorder.sessions, this.#reference);
      this.#recorder.expectResync();
      await member.restore(file);
      this.#reference.rollBack(revision);
      await member.run();
      await this.#writer.awaitWrites(5);
      link.closed = false;
      await until('a resync', () => this.#recorder.resyncs > resyncs);
    });
  }

  /** Breaks the connection repeatedly in the middle of a long replay. */
  cut(): Promise<void> {
    return this.#round(async (_members, [link]) => {
      link.closed = true;
      link.cut();
      await this.#writer.burst(2500, this.#direct);
      // Enough for one message of the replay: etcd puts a thousand revisions into each.
      link.cutAfter = 200_000;
      link.closed = false;
      const { connections } = link;
      await until('three connections', () => link.connections >= connections + 3);
      this.counts.cutReplays++;
      link.cutAfter = Number.POSITIVE_INFINITY;
    });
  }

  /** Kills and restarts the leader of three members. */
  loseLeader(): Promise<void> {
    return this.#round(async (members) => {
      const leader = members.find((each) => each.isLeader())!;
      await leader.kill();
      await this.#writer.awaitWrites(30);
      await leader.run();
    });
  }

  async #round(
    inject: (
      members: readonly [EtcdServer, ...EtcdServer[]],
      links: readonly [FaultyLink, ...FaultyLink[]],
    ) => Promise<void>,
  ): Promise<void> {
    const [member, ...members] = this.#members;
    const [link, ...links] = this.#links;
    await this.#writer.awaitWrites(10);
    await inject([member!, ...members], [link!, ...links]);
    await this.#writer.awaitWrites(20);
    await this.#untilSettled();
    this.counts.rounds++;
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
    const revision = Math.max(...this.#members.map((each) => each.revision()));
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
