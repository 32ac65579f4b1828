/**
 * A start with 50,000 pods in the datastore: the time until the event loop has them, the longest time
 * that the main thread is blocked, and the cost of the stores. With etcd where it is installed.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { KvStore } from '#datastore/api.ts';
import { LevelStore } from '#datastore/level-store.ts';
import { systemClock, systemRandom } from '#infra/clock/system.ts';
import { silentLogger } from '#infra/log/log.ts';
import { REFLECTOR_PREFIX, resources } from '#kubernetes/resources/resources.ts';
import { valueText } from '#kubernetes/resources/value-text.ts';
import { createDbWatcher } from '#plugins/dbwatcher/dbwatcher.ts';
import { EtcdServer } from '#test/integration/support/etcd-server.ts';
import { idleLoop } from '#test/support/idle-loop.ts';
import { MemoryStore } from '#test/support/memory-store.ts';
import { withoutEtcd } from '#test/support/requirements.ts';

export const NAME = 'datastore: 50,000 pods';

type Print = (line: string) => void;

const COUNT = 50_000;
/** Maximum number of operations in a transaction of etcd by default. */
const BATCH = 100;

const pods = new Map(
  Array.from({ length: COUNT }, (_, at) => {
    const pod = resources.pod.model.canonical({
      name: `web-${at}`,
      namespace: `team-${at % 50}`,
      ip_address: `10.${at >> 16}.${(at >> 8) & 255}.${at & 255}`,
      host_ip_address: `192.168.16.${at % 200}`,
      label: [
        { key: 'app', value: `web${at % 300}` },
        { key: 'tier', value: 'frontend' },
      ],
      container: [{ name: 'web', port: [{ name: 'http', container_port: 8080 }] }],
    });
    return [REFLECTOR_PREFIX + resources.pod.model.key(pod), valueText(resources.pod, pod)];
  }),
);

export async function run(print: Print): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'bench-'));
  try {
    const memory = new MemoryStore();
    await memory.putAll(pods);
    await watcher(print, 'memory, no mirror', memory, undefined);
    await level(print, folder);
    if (withoutEtcd()) print(`etcd: ${withoutEtcd()}`);
    else await etcd(print, folder);
  } finally {
    await rm(folder, { recursive: true });
  }
}

async function level(print: Print, folder: string): Promise<void> {
  const options = { folder: join(folder, 'level') };
  const store = await LevelStore.open(options);
  await measured(print, 'level: write all in one batch', () => store.putAll(pods));
  await measured(print, 'level: list all', () => store.list(''));
  await latency(print, 'level: put on the disk', (at) => store.put('x', `${at}`));
  await store.close();
  const again = await measured(print, 'level: open and check all', () => LevelStore.open(options));
  await watcher(print, 'level, no mirror', again, undefined);
  await again.close();
}

async function etcd(print: Print, folder: string): Promise<void> {
  const server = await EtcdServer.start('--quota-backend-bytes=2147483648');
  const store = server.store();
  const local = await LevelStore.open({ folder: join(folder, 'mirror') });
  try {
    const { revision } = await store.list(REFLECTOR_PREFIX);
    const entries = [...pods];
    await measured(print, 'etcd: write all in transactions of 100', async () => {
      for (let from = 0; from < COUNT; from += BATCH)
        await store.putAll(new Map(entries.slice(from, from + BATCH)));
    });
    await measured(print, 'etcd: list all', () => store.list(REFLECTOR_PREFIX));
    await measured(
      print,
      'etcd: replay all to a watch',
      () =>
        new Promise<void>((resolve, reject) => {
          let received = 0;
          const watch = store.watch(REFLECTOR_PREFIX, revision, {
            onChanges: (changes) => {
              received += changes.length;
              if (received < COUNT) return;
              watch.close();
              resolve();
            },
            onLost: reject,
          });
        }),
    );
    await latency(print, 'etcd: put', (at) => store.put('x', `${at}`));
    await watcher(print, 'etcd, mirror empty', store, local);
    await watcher(print, 'etcd, mirror full', store, local);
  } finally {
    await store.close();
    await local.close();
    await server.close();
  }
}

/** Time from the start of a watcher to the resync with all pods, and from a change to its event. */
async function watcher(
  print: Print,
  what: string,
  cluster: KvStore,
  mirror: KvStore | undefined,
): Promise<void> {
  let taken: () => void = () => undefined;
  const next = () =>
    new Promise<void>((resolve) => {
      taken = resolve;
    });
  const made = createDbWatcher({
    loop: { ...idleLoop, push: () => taken() },
    cluster,
    mirror,
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
  await measured(print, `watcher on ${what}: start to resync`, async () => {
    const resync = next();
    made.start();
    await resync;
  });
  while (!made.status.watching) await systemClock.sleep(1);
  const [key, text] = [...pods][0]!;
  await latency(print, `watcher on ${what}: put to event`, async (at) => {
    const event = next();
    await cluster.put(key, text.replace('"web-0"', `"pod-${at}"`));
    await event;
  });
  await cluster.put(key, text);
  await made.close();
}

/**
 * Time of one run, and the longest time without a turn of the event loop. The latter is processor
 * time, so that other load of the machine does not count.
 */
async function measured<T>(print: Print, what: string, action: () => Promise<T>): Promise<T> {
  let longest = 0;
  let isOver = false;
  let before = threadMs();
  const turn = () => {
    const now = threadMs();
    longest = Math.max(longest, now - before);
    before = now;
    if (!isOver) setImmediate(turn);
  };
  turn();
  const started = systemClock.monotonic();
  const result = await action();
  const took = systemClock.monotonic() - started;
  await systemClock.sleep(5);
  isOver = true;
  print(`${what.padEnd(56)} ${took.toFixed(0)} ms, longest stretch ${longest.toFixed(0)} ms`);
  return result;
}

function threadMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

async function latency(
  print: Print,
  what: string,
  action: (at: number) => Promise<void>,
): Promise<void> {
  const times: number[] = [];
  for (let at = 0; at < 300; at++) {
    const started = systemClock.monotonic();
    await action(at);
    times.push(systemClock.monotonic() - started);
  }
  times.sort((a, b) => a - b);
  const [p50, p99] = [times[150]!, times[297]!];
  print(`${what.padEnd(56)} p50 ${p50.toFixed(2)} ms, p99 ${p99.toFixed(2)} ms`);
}
