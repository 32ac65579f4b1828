/**
 * An agent on a real node that has 5 % of one CPU for twenty minutes, while pods come and go as fast as
 * it answers: it becomes ready, also after a restart, and at the end no pod is lost or left over.
 * SOAK_MINUTES is the length, SOAK_SEED repeats the order of the pods.
 */
import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { seededRandom } from '#infra/clock/manual.ts';
import { Kubelet } from '#test/integration/support/kubelet.ts';
import { RealNode } from '#test/integration/support/node.ts';
import { ping } from '#test/integration/support/traffic.ts';
import { CpuShare } from '#test/support/cpu-share.ts';
import { withoutNodes } from '#test/support/requirements.ts';
import { until } from '#test/support/wait.ts';

export const NAME = 'little-cpu: an agent with 5 % of one CPU for twenty minutes';

const SHARE = 0.05;
const podNames = ['a', 'b', 'c', 'd'];
/** The startup probe of the chart allows as much. */
const READY_LIMIT_MS = 600_000;
/** As often as a kubelet asks. */
const PROBE_PAUSE_MS = 10_000;

export async function run(print: (line: string) => void): Promise<void> {
  const reason = withoutNodes();
  if (reason) throw new Error(reason);
  const minutes = Number(process.env['SOAK_MINUTES'] ?? 20);
  const seed = Number(process.env['SOAK_SEED'] ?? randomInt(2 ** 31));
  print(`SOAK_SEED=${seed} SOAK_MINUTES=${minutes}`);
  const share = new CpuShare(SHARE);
  try {
    await soak(share, minutes, seed, print);
  } finally {
    share.remove();
  }
}

async function soak(
  share: CpuShare,
  minutes: number,
  seed: number,
  print: (line: string) => void,
): Promise<void> {
  await using node = await RealNode.create({ agentWrapper: share.wrapper });
  const start = async () => {
    const before = performance.now();
    node.agent.launch();
    await node.agent.whenServing(READY_LIMIT_MS, PROBE_PAUSE_MS);
    const seconds = Math.round((performance.now() - before) / 1000);
    print(`ready after ${seconds} s and ${node.agent.cpuSeconds} s of CPU`);
  };
  await start();
  const empty = await node.configuration();

  const kubelet = new Kubelet(node, seededRandom(seed));
  const lives = podNames.map((pod) => kubelet.keep(pod));
  const failed = Promise.all(lives);
  await using _ = {
    [Symbol.asyncDispose]: async () => {
      kubelet.abort();
      await Promise.allSettled(lives);
    },
  };
  const half = () => Promise.race([sleep(minutes * 30_000), failed]);
  await half();
  node.agent.assertRunning();
  print(JSON.stringify(kubelet.counts));
  await node.agent.end('SIGTERM');
  await Promise.race([start(), failed]);
  await half();
  node.agent.assertRunning();
  const { status, body } = await node.agent.get('/readiness');
  assert.equal(status, 200, JSON.stringify(body));

  kubelet.settle();
  const attached = () => kubelet.pods.size === podNames.length;
  await until('all pods are attached', attached, READY_LIMIT_MS);
  const { periods, of } = share.throttled;
  print(`${JSON.stringify(kubelet.counts)}, throttled in ${periods} of ${of} periods`);
  const pods = [...kubelet.pods.values()];
  const addresses = pods.map(({ address }) => address);
  assert.equal(new Set(addresses).size, podNames.length);
  for (const [i, pod] of pods.entries()) await ping(pod, addresses[(i + 1) % addresses.length]!);
  assert.deepEqual(await node.agent.drift(), []);

  kubelet.end();
  await failed;
  assert.deepEqual(await node.configuration(), empty);
  await node.agent.end('SIGKILL');
}
