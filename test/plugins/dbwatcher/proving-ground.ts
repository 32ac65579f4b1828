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
import type { Event } from '#eventloop/event.ts';
import { seededRandom } from '#infra/clock/manual.ts';
import { systemClock } from '#infra/clock/system.ts';
import { type Logger, silentLogger } from '#infra/log/log.ts';
import { DbResync, ExternalConfigChange, KubeStateChange } from '#plugins/controller/api.ts';
import type { DbWatcher } from '#plugins/dbwatcher/api.ts';
import { createDbWatcher } from '#plugins/dbwatcher/dbwatcher.ts';
import { BadLink } from '../../datastore/bad-link.ts';
import { EtcdServer } from '../../datastore/etcd-server.ts';
import {
  agentPrefix,
  interfaceKey,
  interfaceText,
  ksr,
  namespaceKey,
  namespaceText,
} from './harness.ts';
import { Witness } from './witness.ts';

const LIMIT_MS = 300_000;
const prefixes = [ksr, agentPrefix];

/** Waits for a condition, not for a time; the limit is for what never comes. */
async function until(what: string, condition: () => boolean | Promise<boolean>): Promise<void> {
  const end = systemClock.monotonic() + LIMIT_MS;
  while (!(await condition())) {
    assert.ok(systemClock.monotonic() < end, `waited in vain: ${what}`);
    await systemClock.sleep(10);
  }
}

/** By full key, the number that its value carries; each number is written once. */
type State = Map<string, number>;

/** From a resync to the next one. */
interface Session {
  readonly snapshot: ReadonlyMap<string, number>;
  readonly changes: { readonly key: string; readonly number: number | undefined }[];
}

/** The event loop, as far as the watcher is concerned: knows what it was told. */
class Told {
  sessions: Session[] = [];
  state: State = new Map();
  resyncs = 0;
  changes = 0;

  push(event: Event): void {
    if (DbResync.is(event)) {
      const { kubeState, externalConfig } = event.payload;
      this.state = new Map([
        ...Object.entries(kubeState['namespace'] ?? {}).map(
          ([key, value]) => [ksr + key, numberOf(value)] as const,
        ),
        ...Object.entries(externalConfig).map(
          ([key, value]) => [agentPrefix + key, numberOf(value)] as const,
        ),
      ]);
      this.resyncs++;
      this.sessions.push({ snapshot: new Map(this.state), changes: [] });
    } else if (KubeStateChange.is(event))
      this.#change(ksr + event.payload.key, event.payload.current);
    else if (ExternalConfigChange.is(event))
      for (const [key, value] of Object.entries(event.payload.values))
        this.#change(agentPrefix + key, value ?? undefined);
  }

  /** What came before is checked and need not be kept. */
  forget(): void {
    this.sessions = [{ snapshot: new Map(this.state), changes: [] }];
  }

  /** From here on only a resync may come. */
  expectResync(): void {
    this.sessions = [];
  }

  #change(key: string, value: object | undefined): void {
    const number = value && numberOf(value);
    if (number === undefined) this.state.delete(key);
    else this.state.set(key, number);
    this.changes++;
    const session = this.sessions.at(-1);
    assert.ok(session, 'a change of a database that is no more');
    session.changes.push({ key, number });
  }
}

function numberOf(value: object): number {
  const { mtu, label } = value as { mtu?: number; label?: { value: string }[] };
  return mtu ?? Number(label?.[0]?.value);
}

function numberIn(text: string | undefined): number | undefined {
  return text === undefined ? undefined : numberOf(JSON.parse(text));
}

/** Writes as fast as it is let, whatever the answers are. */
class Writer {
  acknowledged = 0;
  failures = 0;
  lastFailure = '';
  readonly #store: KvStore;
  readonly #random = seededRandom(3);
  #number = 1;
  #rests = false;
  #isResting = false;
  #closed = false;
  readonly #running: Promise<void>;

  constructor(store: KvStore) {
    this.#store = store;
    this.#running = this.#run();
  }

  /** Lets the last write end. */
  async rest(): Promise<void> {
    this.#rests = true;
    await until('the writer rests', () => this.#isResting);
  }

  goOn(): void {
    this.#rests = false;
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#rests = false;
    await this.#running;
    await this.#store.close();
  }

  /** Writes that are acknowledged from now on. */
  async more(count: number): Promise<void> {
    const before = this.acknowledged;
    await until(`${count} more writes`, () => this.acknowledged - before >= count);
  }

  /** Many at once, through a store that has the patience for it. */
  async burst(count: number, store: KvStore): Promise<void> {
    await this.rest();
    for (let left = count; left > 0; left -= 50)
      await Promise.all(
        Array.from({ length: Math.min(50, left) }, () => {
          const [[key, text] = ['', '']] = [...this.#some(1)];
          return store.put(key, text ?? '');
        }),
      );
    this.goOn();
  }

  async #run(): Promise<void> {
    while (!this.#closed) {
      this.#isResting = this.#rests;
      if (this.#rests) {
        await systemClock.sleep(5);
        continue;
      }
      try {
        const chance = this.#random.next();
        if (chance < 0.15) await this.#store.delete(this.#key());
        else if (chance < 0.25) await this.#store.putAll(this.#some(3));
        else for (const [key, text] of this.#some(1)) await this.#store.put(key, text);
        this.acknowledged++;
        // Hundreds a second are many; more only make the database large.
        await systemClock.sleep(2);
      } catch (error) {
        this.failures++;
        this.lastFailure = String(error);
        await systemClock.sleep(20);
      }
    }
  }

  #key(): string {
    const at = Math.floor(this.#random.next() * 9);
    return at < 7 ? namespaceKey(`n${at}`) : interfaceKey(`loop${at}`);
  }

  #some(count: number): Map<string, string> {
    const some = new Map<string, string>();
    while (some.size < count) {
      const key = this.#key();
      const name = key.slice(key.lastIndexOf('/') + 1);
      const number = this.#number++;
      some.set(
        key,
        key.startsWith(ksr) ? namespaceText(name, `${number}`) : interfaceText(name, number),
      );
    }
    return some;
  }
}

export interface Counts {
  rounds: number;
  resyncs: number;
  changes: number;
  /** Replays that were cut at least twice. */
  cutReplays: number;
  /** Watches that were lost, by the reason. */
  readonly lost: Map<string, number>;
}

export class ProvingGround {
  readonly counts: Counts = {
    rounds: 0,
    resyncs: 0,
    changes: 0,
    cutReplays: 0,
    lost: new Map(),
  };
  readonly #members: readonly EtcdServer[];
  readonly #links: readonly BadLink[];
  readonly #folder: string;
  readonly #told = new Told();
  readonly #witness: Witness;
  readonly #writer: Writer;
  readonly #cluster: KvStore;
  /** Past all trouble, for fresh reads. */
  readonly #direct: KvStore;
  readonly #watcher: DbWatcher;

  /** @param members one, or three of one cluster */
  static async start(members: 1 | 3): Promise<ProvingGround> {
    const servers = members === 1 ? [await EtcdServer.start()] : await EtcdServer.startCluster();
    const links = await Promise.all(servers.map(({ port }) => BadLink.start(port)));
    const folder = await mkdtemp(join(tmpdir(), 'ground-'));
    const ground = new ProvingGround(servers, links, folder);
    try {
      await ground.#writer.more(10);
      await ground.#untilSettled();
      return ground;
    } catch (error) {
      await ground.close();
      throw error;
    }
  }

  private constructor(members: EtcdServer[], links: BadLink[], folder: string) {
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
    this.#witness = new Witness(members.map(({ port }) => port));
    this.#writer = new Writer(store(members, 3000));
    this.#direct = store(members, LIMIT_MS);
    this.#cluster = store(links);
    this.#watcher = createDbWatcher({
      loop: this.#told,
      cluster: this.#cluster,
      mirror: new MemoryStore(),
      agentPrefix,
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
    await this.#witness.close();
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
      const { resyncs } = this.#told;
      link.closed = true;
      link.cut();
      await this.#writer.more(30);
      await this.#untilWitnessed();
      await member.compact();
      await this.#writer.more(5);
      link.closed = false;
      await until('a resync', () => this.#told.resyncs > resyncs);
    });
  }

  /** etcd is put back to an old backup. */
  restore(): Promise<void> {
    return this.#round(async ([member], [link]) => {
      const { resyncs } = this.#told;
      const file = join(this.#folder, `backup-${this.counts.rounds}`);
      const revision = member.backup(file);
      await this.#writer.more(30);
      link.closed = true;
      link.cut();
      await this.#untilWitnessed();
      await member.kill();
      this.#check();
      this.#told.expectResync();
      await member.restore(file);
      this.#witness.rollBack(revision);
      await member.run();
      await this.#writer.more(5);
      link.closed = false;
      await until('a resync', () => this.#told.resyncs > resyncs);
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
      const { resyncs } = this.#told;
      const isCut = () => link.connections >= connections + 3;
      // A probe that falls into it has everything read anew: then there is nothing to replay.
      await until('three connections', () => isCut() || this.#told.resyncs > resyncs);
      if (isCut()) this.counts.cutReplays++;
      link.cutAfter = Number.POSITIVE_INFINITY;
    });
  }

  /** The leader of three is killed; the two others go on. */
  loseLeader(): Promise<void> {
    return this.#round(async (members) => {
      const leader = members.find((each) => each.isLeader())!;
      await leader.kill();
      await this.#writer.more(30);
      await leader.run();
    });
  }

  async #round(
    trouble: (
      members: readonly [EtcdServer, ...EtcdServer[]],
      links: readonly [BadLink, ...BadLink[]],
    ) => Promise<void>,
  ): Promise<void> {
    const [member, ...members] = this.#members;
    const [link, ...links] = this.#links;
    await this.#writer.more(10);
    await trouble([member!, ...members], [link!, ...links]);
    await this.#writer.more(20);
    await this.#untilSettled();
    this.counts.rounds++;
  }

  /** For reports. */
  get writer(): Pick<Writer, 'acknowledged' | 'failures' | 'lastFailure'> {
    return this.#writer;
  }

  /** A moment of rest, in which everybody must know the same. */
  async #untilSettled(): Promise<void> {
    await this.#writer.rest();
    let fresh: State = new Map();
    await until('what was told equals a fresh read', async () => {
      if (!this.#watcher.status.watching) return false;
      try {
        fresh = await this.#freshState();
      } catch {
        return false;
      }
      return isSame(fresh, this.#told.state);
    });
    await this.#untilWitnessed();
    this.#check();
    this.#told.forget();
    this.#witness.fold();
    assert.equal(this.#watcher.status.missedChanges, 0, 'the comparison has found nothing');
    this.counts.resyncs = this.#told.resyncs;
    this.counts.changes = this.#told.changes;
    this.#writer.goOn();
  }

  async #freshState(): Promise<State> {
    const lists = await Promise.all(prefixes.map((prefix) => this.#direct.list(prefix)));
    const entries = lists.flatMap(({ entries }) => entries);
    return new Map(entries.map(({ key, value }) => [key, numberIn(value)!]));
  }

  /** The witness has seen all that the watcher can have heard by now. */
  async #untilWitnessed(): Promise<void> {
    const revision = Math.max(...this.#members.map((each) => each.revision()));
    await until('the witness has seen it', () => this.#witness.revision >= revision);
  }

  /** Between two resyncs every change once and in order; each resync a state that once was. */
  #check(): void {
    for (const prefix of prefixes) {
      const history = this.#witness
        .history(prefix)
        .map(({ key, text }) => ({ key, number: numberIn(text) }));
      const base = new Map(
        [...this.#witness.base(prefix)].map(([key, text]) => [key, numberIn(text)!]),
      );
      for (const [at, session] of this.#told.sessions.entries()) {
        const changes = session.changes.filter(({ key }) => key.startsWith(prefix));
        const snapshot = new Map([...session.snapshot].filter(([key]) => key.startsWith(prefix)));
        const starts = startsOf(base, history, snapshot);
        assert.ok(starts.length > 0, `resync ${at} below ${prefix} is no state that ever was`);
        const fits = starts.some((start) =>
          changes.every(({ key, number }, n) => {
            const one = history[start + n];
            return one?.key === key && one.number === number;
          }),
        );
        if (fits) continue;
        const start = starts.at(-1)!;
        assert.deepEqual(changes, history.slice(start, start + changes.length));
      }
    }
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

/** How many changes lie before the states that are equal to this one; the latest last. */
function startsOf(
  base: ReadonlyMap<string, number>,
  history: Session['changes'],
  wanted: ReadonlyMap<string, number>,
): number[] {
  const state: State = new Map(base);
  const starts: number[] = isSame(state, wanted) ? [0] : [];
  for (const [at, { key, number }] of history.entries()) {
    if (number === undefined) state.delete(key);
    else state.set(key, number);
    if (isSame(state, wanted)) starts.push(at + 1);
  }
  return starts;
}

function isSame(a: ReadonlyMap<string, number>, b: ReadonlyMap<string, number>): boolean {
  if (a.size !== b.size) return false;
  for (const [key, number] of a) if (b.get(key) !== number) return false;
  return true;
}
