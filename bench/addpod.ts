/**
 * AddPod through the whole agent on the simulator, from the request on the CNI socket to its reply,
 * and resyncs with many pods. The reference is a CNI request over the same socket that is rejected
 * before it becomes an event.
 */
import { performance } from 'node:perf_hooks';
import { HealingResync } from '#plugins/controller/api/events.ts';
import { addPod, makeNode, type RunningAgent, startAgent } from '#test/cmd/agent/harness.ts';

export const NAME = 'addpod';

const PODS = 200;
/** A node subnet of the default size has 253 pod addresses; this one has enough for all. */
const RESYNC_PODS = 1000;
const wide = { podSubnetCIDR: '10.0.0.0/8', podSubnetOneNodePrefixLen: 16 };

function quantile(sorted: readonly number[], q: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))]!;
}

async function addPods(running: RunningAgent, from: number, to: number): Promise<number[]> {
  const times: number[] = [];
  for (let n = from; n < to; n++) {
    const containerId = n.toString(16).padStart(8, '0').padEnd(64, '0');
    const start = performance.now();
    const reply = await addPod(running, { name: `pod${n}`, containerId, netns: `/run/netns/${n}` });
    times.push(performance.now() - start);
    if (reply.result !== 0) throw new Error(reply.error);
  }
  return times;
}

async function rejections(running: RunningAgent, count: number): Promise<number[]> {
  const times: number[] = [];
  for (let n = 0; n < count; n++) {
    const start = performance.now();
    await running.client.add({ container_id: 'x' });
    times.push(performance.now() - start);
  }
  return times;
}

function report(times: readonly number[]): string {
  const sorted = [...times].sort((a, b) => a - b);
  return `p50 ${quantile(sorted, 0.5).toFixed(2)} ms, p99 ${quantile(sorted, 0.99).toFixed(2)} ms`;
}

export async function run(print: (line: string) => void): Promise<void> {
  const running = await startAgent(makeNode(), { ipam: wide });
  try {
    await addPods(running, 0, 20);
    const reference = await rejections(running, PODS);
    const added = await addPods(running, 20, 20 + PODS);
    print(`rejected request over the CNI socket: ${report(reference)}`);
    print(`AddPod on the simulator, pods 20 to ${20 + PODS}: ${report(added)}`);
    const late = await addPods(running, 20 + PODS, RESYNC_PODS);
    print(`AddPod on the simulator, pods ${20 + PODS} to ${RESYNC_PODS}: ${report(late)}`);
    const start = performance.now();
    await running.agent.controller.pushAndWait(
      HealingResync.event({ type: 'after-error', error: 'bench' }),
    );
    print(`full resync with ${RESYNC_PODS} pods: ${(performance.now() - start).toFixed(0)} ms`);
  } finally {
    await running.stop();
  }
}
