/**
 * A start with the 50,000 keys of a cluster with 200 nodes in etcd: the time of a plain range read of
 * these keys, of the watcher until it has pushed them to the event loop, of an agent on simulated VPP
 * and Linux until it is ready after its startup resync, and until the mirror is written.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Etcd3 } from 'etcd3';
import type { KvStore } from '#datastore/api.ts';
import { LevelStore } from '#datastore/level-store.ts';
import { systemClock, systemRandom } from '#infra/clock/system.ts';
import { silentLogger } from '#infra/log/log.ts';
import { REFLECTOR_PREFIX } from '#kubernetes/resources/resources.ts';
import { createDbWatcher } from '#plugins/dbwatcher/dbwatcher.ts';
import { makeNode, prepareAgent } from '#test/cmd/agent/harness.ts';
import { EtcdServer } from '#test/integration/support/etcd-server.ts';
import { idleLoop } from '#test/support/idle-loop.ts';
import { MemoryStore } from '#test/support/memory-store.ts';
import { withoutEtcd } from '#test/support/requirements.ts';
import { clusterRecords } from './lib/cluster-records.ts';

export const NAME = 'start: 50,000 keys in etcd';

type Print = (line: string) => void;

const SIZE = { nodes: 200, namespaces: 100, services: 3_000, keys: 50_000 };
/** Maximum number of operations in a transaction of etcd by default. */
const BATCH = 100;
const TARGET_MS = 5_000;

export async function run(print: Print): Promise<void> {
  const reason = withoutEtcd();
  if (reason) throw new Error(reason);
  const server = await EtcdServer.start('--quota-backend-bytes=2147483648');
  const folder = await mkdtemp(join(tmpdir(), 'bench-'));
  const store = server.store(server.port, 60_000);
  const mirror = await LevelStore.open({ folder });
  try {
    await fill(store);
    await rangeRead(print, server.port);
    await toEventLoop(print, store);
    await toReady(print, store, mirror);
  } finally {
    for (const each of [mirror, store, server]) await each.close();
    await rm(folder, { recursive: true });
  }
}

async function fill(store: KvStore): Promise<void> {
  const all = [...clusterRecords(SIZE)];
  for (let from = 0; from < all.length; from += BATCH)
    await store.putAll(new Map(all.slice(from, from + BATCH)));
}

/** One request for all keys, whose reply is not used: the lower bound for a start. */
async function rangeRead(print: Print, port: number): Promise<void> {
  const client = new Etcd3({
    hosts: `127.0.0.1:${port}`,
    grpcOptions: { 'grpc.max_receive_message_length': -1 },
  });
  const prefix = Buffer.from(REFLECTOR_PREFIX);
  const end = Buffer.from(REFLECTOR_PREFIX);
  end[end.length - 1]!++;
  for (const round of ['first', 'again']) {
    const started = systemClock.monotonic();
    const { kvs } = await client.kv.range({ key: prefix, range_end: end });
    const bytes = kvs.reduce((sum, { key, value }) => sum + key.length + value.length, 0);
    report(print, `reference: range read, ${round}`, started);
    if (round === 'again') print(`  ${kvs.length} keys, ${(bytes / 2 ** 20).toFixed(1)} MiB`);
  }
  client.close();
}

async function toEventLoop(print: Print, store: KvStore): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const watcher = createDbWatcher({
    loop: { ...idleLoop, push: () => resolve() },
    cluster: store,
    mirror: undefined,
    nodeName: 'node1',
    agentPrefix: '/vnf-agent/node1/',
    config: {
      delayLocalResync: '1h',
      remoteDBProbingInterval: '1h',
      remoteDBCompareInterval: '1h',
    },
    clock: systemClock,
    random: systemRandom,
    log: silentLogger,
    reportState: () => undefined,
  });
  const started = systemClock.monotonic();
  watcher.start();
  await promise;
  report(print, 'watcher: start to Database Resync', started);
  await watcher.close();
}

async function toReady(print: Print, store: KvStore, mirror: KvStore): Promise<void> {
  const node = { ...makeNode(), cluster: store, local: new MemoryStore(), mirror };
  const { agent } = prepareAgent(node);
  const started = systemClock.monotonic();
  await agent.start();
  while (agent.controller.history.records.length === 0) await systemClock.sleep(5);
  const took = report(print, 'agent: start to state ready, simulated southbound', started);
  print(`  target: ${TARGET_MS} ms ${took <= TARGET_MS ? 'met' : 'MISSED'}`);
  const last = [...clusterRecords(SIZE)].at(-1)![0];
  while ((await mirror.get(last)) === undefined) await systemClock.sleep(5);
  report(print, 'agent: start to mirror written', started);
  await agent.stop();
}

function report(print: Print, what: string, started: number): number {
  const took = systemClock.monotonic() - started;
  print(`${what.padEnd(48)} ${took.toFixed(0)} ms`);
  return took;
}
