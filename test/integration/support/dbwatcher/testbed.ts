/**
 * A watcher on a real etcd, reached over a bad link, under a writer that never rests; and one trouble
 * after the other. What the watcher tells the event loop is held against what a witness has seen.
 */
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { KvStore } from '#datastore/api.ts';
import { EtcdStore } from '#datastore/etcd/store.ts';
import { MemoryStore } from '#datastore/memory.ts';
import { seededRandom } from '#infra/clock/manual.ts';
import { systemClock } from '#infra/clock/system.ts';
import { type Logger, silentLogger } from '#infra/log/log.ts';
import type { DbWatcher } from '#plugins/dbwatcher/api.ts';
import { createDbWatcher } from '#plugins/dbwatcher/dbwatcher.ts';
import { AGENT_PREFIX } from '#test/plugins/dbwatcher/harness.ts';
import { LIMIT_MS, until } from '#test/plugins/dbwatcher/patience.ts';
import { EtcdServer } from '../etcd-server.ts';
import { FaultyLink } from '../faulty-link.ts';
import { assertCompleteAndOrdered, isSame, prefixes } from './assertions.ts';
import { ContinuousWriter } from './continuous-writer.ts';
import { EventRecorder, numberIn, type State } from './event-recorder.ts';
import { ReferenceWatch } from './reference-watch.ts';

export interface Counts {
  rounds: number;
  resyncs: number;
  changes: number;
  /** Replays that were cut at least twice. */
  cutReplays: number;
  /** Watches that were lost, by the reason. */
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
  /** Past all trouble, for fresh reads. */
  readonly #direct: KvStore;
  readonly #watcher: DbWatcher;

  /** @param members one, or three of one cluster */
  static async start(members: 1 | 3): Promise<WatcherTestbed> {
    const servers = members === 1 ? [await EtcdServer.start()] : await EtcdServer.startCluster();
    const links = await Promise.all(servers.map(({ port }) => FaultyLink.start(port)));
    const folder = await mkdtemp(join(tmpdir(), 'ground-'));
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

  /** etcd is killed under the writer, and comes back. */
  kill(): Promise<void> {
    return this.#round(async ([member]) => {
      const { failures } = this.#writer;
      await member.kill();
      await until('a write fails', () => this.#writer.failures > failures);
      await member.run();
    });
  }

  /** etcd stands still, and goes on. */
  stop(): Promise<void> {
    return this.#round(async ([member]) => {
      const { failures } = this.#writer;
      member.signal('SIGSTOP');
      await until('a write fails', () => this.#writer.failures > failures);
      member.signal('SIGCONT');
    });
  }

  /** The history is compacted while the watcher is cut off. */
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

  /** etcd is put back to an old backup. */
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

  /** The connection breaks in the middle of a long replay, again and again. */
  cut(): Promise<void> {
    return this.#round(async (_members, [link]) => {
      link.closed = true;
      link.cut();
      await this.#writer.burst(2500, this.#direct);
      // Room for one of the messages, of a thousand revisions each, that etcd replays in.
      link.cutAfter = 200_000;
      link.closed = false;
      const { connections } = link;
      const { resyncs } = this.#recorder;
      const isCut = () => link.connections >= connections + 3;
      // A probe that falls into it has everything read anew: then there is nothing to replay.
      await until('three connections', () => isCut() || this.#recorder.resyncs > resyncs);
      if (isCut()) this.counts.cutReplays++;
      link.cutAfter = Number.POSITIVE_INFINITY;
    });
  }

  /** The leader of three is killed; the two others go on. */
  loseLeader(): Promise<void> {
    return this.#round(async (members) => {
      const leader = members.find((each) => each.isLeader())!;
      await leader.kill();
      await this.#writer.awaitWrites(30);
      await leader.run();
    });
  }

  async #round(
    trouble: (
      members: readonly [EtcdServer, ...EtcdServer[]],
      links: readonly [FaultyLink, ...FaultyLink[]],
    ) => Promise<void>,
  ): Promise<void> {
    const [member, ...members] = this.#members;
    const [link, ...links] = this.#links;
    await this.#writer.awaitWrites(10);
    await trouble([member!, ...members], [link!, ...links]);
    await this.#writer.awaitWrites(20);
    await this.#untilSettled();
    this.counts.rounds++;
  }

  /** For reports. */
  get writer(): Pick<ContinuousWriter, 'acknowledged' | 'failures' | 'lastFailure'> {
    return this.#writer;
  }

  /** A moment of rest, in which everybody must know the same. */
  async #untilSettled(): Promise<void> {
    await this.#writer.pause();
    let fresh: State = new Map();
    await until('what was told equals a fresh read', async () => {
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
    assert.equal(this.#watcher.status.missedChanges, 0, 'the comparison has found nothing');
    this.counts.resyncs = this.#recorder.resyncs;
    this.counts.changes = this.#recorder.changes;
    this.#writer.resume();
  }

  async #freshState(): Promise<State> {
    const lists = await Promise.all(prefixes.map((prefix) => this.#direct.list(prefix)));
    const entries = lists.flatMap(({ entries }) => entries);
    return new Map(entries.map(({ key, value }) => [key, numberIn(value)!]));
  }

  /** The witness has seen all that the watcher can have heard by now. */
  async #untilReferenceCaughtUp(): Promise<void> {
    const revision = Math.max(...this.#members.map((each) => each.revision()));
    await until('the witness has seen it', () => this.#reference.revision >= revision);
  }

  #log(): Logger {
    return {
      ...silentLogger,
      warn: (fields: object, text?: string) => {
        if (text !== 'the watch is lost') return;
        const reason = String((fields as { reason?: string }).reason).replace(/\d+/g, 'N');
        this.counts.lost.set(reason, (this.counts.lost.get(reason) ?? 0) + 1);
      },
    };
  }
}
