/** When contiv-ksr has taken up the large cluster, and whether etcd has its records. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Readers } from '#kubernetes/reflector/reflected.ts';
import { REFLECTOR_PREFIX } from '#kubernetes/resources/resources.ts';
import type { EtcdServer } from '#test/integration/support/etcd-server.ts';
import type { RealKsr } from '#test/integration/support/ksr.ts';
import { recordsOf } from '#test/integration/support/reflected-state.ts';
import type { LargeApiServer } from './large-api-server.ts';
import { largeCluster } from './large-cluster.ts';

const POLL_MS = 500;
/** Endpoints and their slices give the same records. */
const recordKinds = largeCluster.map(({ kind }) => kind).filter((kind) => kind !== 'EndpointSlice');

/** etcd has the records of all kinds that the server has. */
export async function synchronized(ksr: RealKsr): Promise<void> {
  await until(ksr, (metrics) =>
    recordKinds.every((kind) => metrics.includes(`contiv_ksr_synchronized{kind="${kind}"} 1\n`)),
  );
}

/** It follows all kinds that the server has: a follower is ready before, and would have to list them when it leads. */
export async function whenListed(ksr: RealKsr): Promise<void> {
  const watched = /^contiv_ksr_watch_state\{.*state="watching".*\} 1$/gm;
  await until(ksr, (metrics) => metrics.match(watched)?.length === largeCluster.length);
}

/** It has replaced so many records. */
export async function whenUpdated(ksr: RealKsr, count: number): Promise<void> {
  const updates = /^contiv_ksr_writes_total\{.*operation="update",result="success".*\} (\d+)$/gm;
  await until(ksr, (metrics) => {
    const counts = [...metrics.matchAll(updates)].map(([, text]) => Number(text));
    return counts.reduce((a, b) => a + b, 0) >= count;
  });
}

async function until(ksr: RealKsr, condition: (metrics: string) => boolean): Promise<void> {
  while (!condition((await ksr.get('/metrics')) ?? '')) {
    ksr.assertRunning();
    await sleep(POLL_MS);
  }
}

/** Of the objects that the server has at present. @returns keys whose record is missing, differs, or has no object */
export async function differingRecords(
  etcd: EtcdServer,
  server: LargeApiServer,
  readers: Readers,
): Promise<string[]> {
  const wanted = new Map(recordsOf(objectsOf(server), readers));
  const store = etcd.store(etcd.port, 60_000);
  const differing: string[] = [];
  await store.pages(`${REFLECTOR_PREFIX}k8s/`, (page) => {
    for (const { key, value } of page) {
      if (wanted.get(key) !== value) differing.push(key);
      wanted.delete(key);
    }
  });
  await store.close();
  return [...differing, ...wanted.keys()];
}

function* objectsOf(server: LargeApiServer): Generator<unknown> {
  for (const kind of largeCluster)
    for (let number = 0; number < kind.count; number++)
      yield { apiVersion: kind.apiVersion, kind: kind.kind, ...server.object(kind, number) };
}
