/**
 * One agent with simulated VPP and Linux in a cluster of 1,000 nodes and 30,000 pods, while very many records change at once
 * and each second a pod of its own node does: when it is current after the last write, how long the changes of own pods take,
 * and whether it stays ready. The reference on the same etcd is a light agent: the watcher without the rest.
 *
 * At last so many clients read everything at once that etcd cannot answer each in time.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { startStorm } from './lib/fleet/start-storm.ts';
import { ClusterPart } from './lib/large/cluster-part.ts';
import { type Stand, withLargeCluster } from './lib/large/stand.ts';
import { storm } from './lib/large/storm.ts';
import { newNodes, reflectedAgain, rollingRestart } from './lib/large/storm-records.ts';
import type { Print } from './lib/subprocess.ts';

export const NAME = 'storms: very many records change at once';

const NODES = 1_000;
const NEW_NODES = 500;
const RESTARTED_PODS = 5_000;
const READERS = 400;
const SETTLE_MS = 5_000;

export async function run(print: Print): Promise<void> {
  const part = new ClusterPart(NODES);
  await withLargeCluster(print, (stand) => storms(stand, part, print), part);
}

async function storms(stand: Stand, part: ClusterPart, print: Print): Promise<void> {
  await sleep(SETTLE_MS);
  await storm(stand, 'all records again', [...reflectedAgain(part)], print);
  await sleep(SETTLE_MS);
  await storm(stand, 'all pods with another label', [...reflectedAgain(part, 'v3')], print);
  await sleep(SETTLE_MS);
  await storm(stand, `${NEW_NODES} nodes in a minute`, [...newNodes(NODES, NEW_NODES)], print, 60);
  await sleep(SETTLE_MS);
  await storm(
    stand,
    `restart of ${RESTARTED_PODS} pods`,
    [...rollingRestart(part, RESTARTED_PODS)],
    print,
  );
  const { seconds, failures, etcdSeconds } = await startStorm(stand.etcd, READERS);
  print(
    `${READERS} clients read everything at once, as agents that start: all have it after ${seconds.toFixed(0)} s, ` +
      `${failures} reads begun again; etcd ${etcdSeconds.toFixed(0)} s of processor time`,
  );
}
