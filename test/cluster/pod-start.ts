/** How long pods take from their POST to Running, and the agent's part of it. */
import { until } from '#test/support/wait.ts';
import type { KubeApi } from './kube-api.ts';
import { createNamespace, deleteNamespace } from './namespaces.ts';
import { nodeName } from './network.ts';
import { durationText, percentiles } from './percentiles.ts';
import type { SuiteRun } from './suite.ts';
import { eventsSince } from './vswitch.ts';

const NODE = 2;
const NAMESPACE = 'pod-start';
const PODS = `/api/v1/namespaces/${NAMESPACE}/pods`;
const ONE_BY_ONE = 20;
const AT_ONCE = 30;
const LIMIT_MS = 120_000;

interface Pod {
  readonly metadata: { readonly name: string };
  readonly status: { readonly phase: string; readonly podIP?: string };
}

export async function measurePodStart(api: KubeApi): Promise<SuiteRun> {
  createNamespace(NAMESPACE);
  const watch = new AbortController();
  try {
    const running = new Map<string, { readonly time: number; readonly address: string }>();
    await api.watch<Pod>(PODS, watch.signal, ({ metadata: { name }, status }) => {
      if (status.phase === 'Running' && !running.has(name))
        running.set(name, { time: performance.now(), address: status.podIP ?? 'none' });
    });
    const begin = Date.now();
    const times: number[] = [];
    for (let i = 0; i < ONE_BY_ONE; i++) {
      const name = `single-${i}`;
      const start = performance.now();
      await api.call('POST', PODS, pod(name));
      await until(`${name} runs`, () => running.has(name), LIMIT_MS);
      times.push(running.get(name)!.time - start);
      await api.call('DELETE', `${PODS}/${name}`);
    }
    const adds = eventsSince(NODE, begin)
      .filter(({ Description }) => Description.startsWith(`Add Pod ${NAMESPACE}/`))
      .map(({ Trace }) => Trace.TotalMs);

    const names = Array.from({ length: AT_ONCE }, (_, i) => `batch-${i}`);
    const start = performance.now();
    await Promise.all(names.map((name) => api.call('POST', PODS, pod(name))));
    await until('all pods run', () => names.every((name) => running.has(name)), LIMIT_MS);
    const last = Math.max(...names.map((name) => running.get(name)!.time));
    const addresses = new Set(names.map((name) => running.get(name)!.address));
    const isDistinct = addresses.size === AT_ONCE && !addresses.has('none');
    return {
      cases: [
        {
          name: `${AT_ONCE} pods created at once on one node run, each with an address of its own`,
          outcome: isDistinct ? 'passed' : 'failed',
          message: isDistinct ? '' : `addresses: ${[...addresses].join(', ')}`,
        },
      ],
      measures: [
        `pod from POST to Running, one at a time: ${percentiles(times)}`,
        `the agent's part of it, from the CNI request ADD to its reply: ${percentiles(adds)}, ${share(adds, times)} of the sum`,
        `${AT_ONCE} pods created at once on one node: all Running after ${durationText(last - start)}`,
      ],
    };
  } finally {
    watch.abort();
    deleteNamespace(NAMESPACE);
  }
}

const pod = (name: string): object => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name },
  spec: {
    nodeName: nodeName(NODE),
    terminationGracePeriodSeconds: 0,
    containers: [{ name: 'pause', image: 'registry.k8s.io/pause:3.10.1' }],
  },
});

function share(part: readonly number[], whole: readonly number[]): string {
  const sum = (times: readonly number[]): number => times.reduce((all, time) => all + time, 0);
  return `${Math.round((sum(part) / sum(whole)) * 100)} %`;
}
