/**
 * contiv-ksr in a cluster of 5,000 nodes and 150,000 pods: the whole program, between an API server and an
 * empty etcd, until etcd has all records; then while pods change, and when another instance becomes the leader;
 * and its records alone, after the lists of all kinds were taken in pages. The references of the same run are a process
 * that keeps the objects as texts in a map, and etcd's own processor time for the same changes.
 */
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Revision, Watch } from '#datastore/api.ts';
import type { EtcdStore } from '#datastore/etcd/store.ts';
import { ManualClock } from '#infra/clock/manual.ts';
import { silentLogger } from '#infra/log/log.ts';
import { createReflector } from '#ksr/records/reflector.ts';
import { podKey } from '#kubernetes/models/pod.ts';
import { REFLECTOR_PREFIX } from '#kubernetes/resources/resources.ts';
import { EtcdServer } from '#test/integration/support/etcd-server.ts';
import { RealKsr } from '#test/integration/support/ksr.ts';
import { cpuSecondsOf } from '#test/integration/support/process-cpu.ts';
import { LargeApiServer } from './lib/ksr/large-api-server.ts';
import { type LargeKind, largeCluster, NODES, PODS, pods } from './lib/ksr/large-cluster.ts';
import { synchronized, whenListed } from './lib/ksr/large-ksr.ts';
import { type Print, runInSubprocess } from './lib/subprocess.ts';

export const NAME = 'ksr: 5,000 nodes and 150,000 pods';

const PAGE = 500;
const podPrefix = `${REFLECTOR_PREFIX}${podKey.prefix()}`;
/** From one changed pod to the next, so that they are of all nodes and services. */
const STRIDE = 7_919;
const MIB = 2 ** 20;
const mib = (bytes: number) => `${Math.round(bytes / MIB)} MiB`;

export async function run(print: Print): Promise<void> {
  print(`${NODES} nodes, ${PODS} pods:`);
  await program(print);
  for (const step of ['records', 'texts']) await runInSubprocess(import.meta.filename, step, print);
}

const CHANGES_PER_SECOND = 100;
const CHURN_SECONDS = 60;
const LIMIT_MS = 60_000;

async function program(print: Print): Promise<void> {
  const etcd = await EtcdServer.start();
  await using server = await LargeApiServer.start();
  const options = { etcd: `127.0.0.1:${etcd.port}`, kubeconfig: server.kubeconfig };
  try {
    const start = performance.now();
    await using first = await RealKsr.launch(options);
    await synchronized(first);
    const seconds = (performance.now() - start) / 1000;
    print(
      `contiv-ksr, from its start until etcd has all records: ${seconds.toFixed(1)} s, ` +
        `${first.cpuSeconds.toFixed(1)} s of CPU, ${memoryText(first)}`,
    );
    await using changes = await PodChanges.start(etcd, server);
    await churn(print, etcd, changes, first);
    await using second = await RealKsr.launch(options);
    await whenListed(second);
    print(
      `another instance that waits: ${second.cpuSeconds.toFixed(1)} s of CPU, ${memoryText(second)}`,
    );
    for (const [signal, leader, next] of [
      ['SIGTERM', first, second],
      ['SIGKILL', second, first],
    ] as const) {
      if (signal === 'SIGKILL') {
        first.run();
        await whenListed(first);
      }
      await takeover(print, changes, signal, leader, next);
    }
  } finally {
    await etcd.close();
  }
}

/** Changes of pods at the API server, and when their records arrive in etcd. */
class PodChanges implements AsyncDisposable {
  readonly #server: LargeApiServer;
  readonly #store: EtcdStore;
  readonly #watch: Watch;
  /** When each was made, as long as its record has not arrived: milliseconds. */
  readonly #made = new Map<string, number>();
  #count = 0;
  /** Of each record that has arrived, milliseconds. */
  delays: number[] = [];

  static async start(etcd: EtcdServer, server: LargeApiServer): Promise<PodChanges> {
    const store = etcd.store(etcd.port, LIMIT_MS);
    const { revision } = await store.list(`${podPrefix}none/`);
    return new PodChanges(server, store, revision);
  }

  private constructor(server: LargeApiServer, store: EtcdStore, from: Revision) {
    this.#server = server;
    this.#store = store;
    this.#watch = store.watch(podPrefix, from, {
      onChanges: (all) => {
        for (const { value } of all) this.#arrived(value ?? '');
      },
      onLost: (cause) => {
        throw cause;
      },
    });
  }

  make(): void {
    const turn = `turn-${this.#count}`;
    const number = (this.#count++ * STRIDE) % PODS;
    const object = this.#server.object(pods, number);
    const { metadata } = object;
    const labels = { ...metadata.labels, turn };
    this.#made.set(turn, performance.now());
    this.#server.change(pods, number, { ...object, metadata: { ...metadata, labels } });
  }

  #arrived(record: string): void {
    const turn = /turn-\d+/.exec(record)?.[0];
    const made = turn === undefined ? undefined : this.#made.get(turn);
    if (turn === undefined || made === undefined) return;
    this.#made.delete(turn);
    this.delays.push(performance.now() - made);
  }

  /** Resolves when etcd has all that were made. */
  async arrived(): Promise<void> {
    const end = performance.now() + LIMIT_MS;
    while (this.#made.size > 0) {
      if (performance.now() > end) throw new Error(`${this.#made.size} changes have no record`);
      await sleep(1);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#watch.close();
    await this.#store.close();
  }
}

async function churn(print: Print, etcd: EtcdServer, changes: PodChanges, ksr: RealKsr) {
  const [ksrBefore, etcdBefore] = [ksr.cpuSeconds, cpuSecondsOf(etcd.pid)];
  const start = performance.now();
  const count = CHANGES_PER_SECOND * CHURN_SECONDS;
  for (let made = 0; made < count; ) {
    const due = Math.min(count, ((performance.now() - start) / 1000) * CHANGES_PER_SECOND);
    for (; made < due; made++) changes.make();
    await sleep(1);
  }
  await changes.arrived();
  const micros = (seconds: number) => `${Math.round((seconds / count) * 1e6)} µs`;
  const sorted = changes.delays.sort((a, b) => a - b);
  const at = (share: number) => `${sorted[Math.floor((sorted.length - 1) * share)]!.toFixed(0)} ms`;
  print(
    `${CHANGES_PER_SECOND} pods a second are changed for ${CHURN_SECONDS} s: ${micros(ksr.cpuSeconds - ksrBefore)} of CPU for each, ` +
      `reference: etcd ${micros(cpuSecondsOf(etcd.pid) - etcdBefore)}; record in etcd after ${at(0.5)} (p50), ${at(0.99)} (p99); ${memoryText(ksr)}`,
  );
}

async function takeover(
  print: Print,
  changes: PodChanges,
  signal: 'SIGTERM' | 'SIGKILL',
  leader: RealKsr,
  next: RealKsr,
): Promise<void> {
  const cpuBefore = next.cpuSeconds;
  changes.make();
  await changes.arrived();
  const start = performance.now();
  await leader.end(signal);
  changes.make();
  await next.whenLeading();
  const leads = performance.now() - start;
  await changes.arrived();
  const written = performance.now() - start;
  await synchronized(next);
  const cpu = next.cpuSeconds - cpuBefore;
  print(
    `${signal} of the leader: another one leads after ${Math.round(leads)} ms, a change of that moment has its record after ${Math.round(written)} ms, ` +
      `${cpu.toFixed(1)} s of CPU, ${memoryText(next)}`,
  );
}

const memoryText = ({ pid }: RealKsr): string => {
  const { VmRSS: resident, VmHWM: peak } = memoryOf(pid);
  return `${mib(resident)} resident, ${mib(peak)} at most`;
};

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
