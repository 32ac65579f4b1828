/** The frame of the measurements in a large cluster: etcd with its records, the agent, and beside it a light agent. */
import { setTimeout as sleep } from 'node:timers/promises';
import { EtcdServer } from '#test/integration/support/etcd-server.ts';
import { withoutEtcd } from '#test/support/requirements.ts';
import { Fleet } from '../fleet/fleet.ts';
import type { Print } from '../subprocess.ts';
import { LargeAgent } from './agent-process.ts';
import type { ClusterPart } from './cluster-part.ts';
import { fill } from './writer.ts';

export interface Stand {
  readonly etcd: EtcdServer;
  /** It is ready, and its pods are attached. */
  readonly agent: LargeAgent;
  /** Receives and decodes the same changes, and does no more: the reference. */
  readonly light: Fleet;
}

export async function withLargeCluster(
  print: Print,
  measure: (stand: Stand) => Promise<void>,
  part?: ClusterPart,
): Promise<void> {
  const reason = withoutEtcd();
  if (reason) throw new Error(reason);
  const etcd = await EtcdServer.start('--quota-backend-bytes=4294967296');
  try {
    await fill(etcd, print, part);
    await using agent = new LargeAgent([etcd.port]);
    const { attachedPods, readyMs } = await agent.ready;
    print(
      `ready after ${(readyMs / 1000).toFixed(1)} s of which ${agent.cpuSeconds.toFixed(1)} s of CPU with ${attachedPods} pods; ${agent.residentMib.toFixed(0)} MiB resident`,
    );
    await agent.announcePods(etcd);
    await using light = await Fleet.start(etcd, 1);
    while ((await light.state('')).watching < 1) await sleep(100);
    await measure({ etcd, agent, light });
  } finally {
    await etcd.close();
  }
}
