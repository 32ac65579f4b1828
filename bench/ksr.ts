/**
 * contiv-ksr in a cluster of 5,000 nodes and 150,000 pods: the whole program, between an API server and an
 * empty etcd, until etcd has all records; and its records alone, after the lists of all kinds were taken in
 * pages. The reference of the same run is a process that keeps the objects as texts in a map.
 */
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { ManualClock } from '#infra/clock/manual.ts';
import { silentLogger } from '#infra/log/log.ts';
import { createReflector } from '#ksr/records/reflector.ts';
import { REFLECTOR_PREFIX } from '#kubernetes/resources/resources.ts';
import { EtcdServer } from '#test/integration/support/etcd-server.ts';
import { RealKsr } from '#test/integration/support/ksr.ts';
import { LargeApiServer } from './lib/ksr/large-api-server.ts';
import { type LargeKind, largeCluster, NODES, PODS } from './lib/ksr/large-cluster.ts';
import { type Print, runInSubprocess } from './lib/subprocess.ts';

export const NAME = 'ksr: 5,000 nodes and 150,000 pods';

const PAGE = 500;
const MIB = 2 ** 20;
const mib = (bytes: number) => `${Math.round(bytes / MIB)} MiB`;

export async function run(print: Print): Promise<void> {
  print(`${NODES} nodes, ${PODS} pods:`);
  await program(print);
  for (const step of ['records', 'texts']) await runInSubprocess(import.meta.filename, step, print);
}

const POLL_MS = 500;
/** Endpoints and their slices give the same records. */
const recordKinds = largeCluster.length - 1;

async function program(print: Print): Promise<void> {
  const etcd = await EtcdServer.start();
  await using server = await LargeApiServer.start();
  const { kubeconfig } = server;
  try {
    const start = performance.now();
    await using ksr = await RealKsr.launch({ etcd: `127.0.0.1:${etcd.port}`, kubeconfig });
    while (!(await isSynchronized(ksr))) {
      ksr.assertRunning();
      await sleep(POLL_MS);
    }
    const seconds = (performance.now() - start) / 1000;
    const { VmRSS: resident, VmHWM: peak } = memoryOf(ksr.pid);
    print(
      `contiv-ksr, from its start until etcd has all records: ${seconds.toFixed(1)} s, ` +
        `${ksr.cpuSeconds.toFixed(1)} s of CPU, ${mib(resident)} resident, ${mib(peak)} at most`,
    );
  } finally {
    await etcd.close();
  }
}

/** Whether etcd has the records of all kinds that the server has. */
async function isSynchronized(ksr: RealKsr): Promise<boolean> {
  const metrics = (await ksr.get('/metrics')) ?? '';
  const done = [...metrics.matchAll(/^contiv_ksr_synchronized\{.*\} 1$/gm)];
  return done.length >= recordKinds;
}

/** In bytes. */
function memoryOf(pid: number): { readonly VmRSS: number; readonly VmHWM: number } {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const bytes = (name: string) =>
    1024 * Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status)?.[1]);
  return { VmRSS: bytes('VmRSS'), VmHWM: bytes('VmHWM') };
}

/** Pages of a list, parsed from the text in which the server sends them. */
function* pages({ count, object }: LargeKind): Generator<unknown[]> {
  for (let from = 0; from < count; from += PAGE) {
    const length = Math.min(PAGE, count - from);
    yield Array.from({ length }, (_, at) => JSON.parse(JSON.stringify(object(from + at))));
  }
}

function records(): object {
  // its time does not advance, so that all is computed at once
  const clock = new ManualClock();
  const reflector = createReflector({
    prefix: REFLECTOR_PREFIX,
    readers: 'mixed',
    clock,
    log: silentLogger,
  });
  const kinds = new Map(largeCluster.map((kind) => [kind.path, kind]));
  let cpuMs = 0;
  for (const { kind, handlers } of reflector.watches) {
    handlers.listing();
    const listed = kinds.get(kind.path);
    for (const page of listed ? pages(listed) : []) {
      const start = process.cpuUsage();
      handlers.changed(page);
      const { user, system } = process.cpuUsage(start);
      cpuMs += (user + system) / 1000;
    }
    handlers.listed();
  }
  const count = reflector.records.reduce((sum, { table }) => sum + table.size, 0);
  report(`contiv-ksr, ${count} records, ${(cpuMs / 1000).toFixed(1)} s of CPU`);
  return reflector;
}

function texts(): object {
  const kept = new Map<string, string>();
  for (const { path, count, object } of largeCluster)
    for (let at = 0; at < count; at++) kept.set(`${path}/${at}`, JSON.stringify(object(at)));
  report(`reference: ${kept.size} objects as texts in a map`);
  return kept;
}

function report(title: string): void {
  globalThis.gc?.();
  const { heapUsed, external, rss } = process.memoryUsage();
  const peak = process.resourceUsage().maxRSS * 1024;
  console.log(
    `${title}: ${mib(heapUsed)} of heap and ${mib(external)} beside it, ${mib(rss)} resident, ${mib(peak)} at most`,
  );
}

const steps: Readonly<Record<string, () => object>> = { records, texts };
const step = steps[process.argv[2] ?? ''];
// The result is what the memory is measured of: it must live until the report.
if (import.meta.main && step !== undefined) step();
