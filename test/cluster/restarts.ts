/** The suite `restarts`: parts of the second node end while a client of the first one asks its pods. */
import { setTimeout as sleep } from 'node:timers/promises';
import { until } from '#test/support/wait.ts';
import { whenReady } from './cluster.ts';
import { apply, getObject, kubectl } from './kubectl.ts';
import { AGNHOST, Load, type Requests } from './load.ts';
import { createNamespace, deleteNamespace } from './namespaces.ts';
import { nodeName } from './network.ts';
import { killNode, killService, type NodeService, servicePid, startNode } from './node.ts';
import type { CaseResult } from './results.ts';
import type { ClusterSettings } from './settings.ts';
import type { Suite, SuiteRun } from './suite.ts';
import { restartProcess, untilReady } from './vswitch.ts';

const NODE = 2;
/** After everything is Ready again, until requests must not be lost. */
const SETTLE_MS = 10_000;
/** How long requests are counted after that. */
const COUNTED_MS = 10_000;
const MORE = 'restarts';
const MORE_PODS = 10;

interface Restart {
  readonly name: string;
  /** Whether pods keep their network meanwhile. */
  readonly forwards: boolean;
  /** Resolves when the node is ready again. */
  run(load: Load, settings: ClusterSettings): Promise<void>;
}

const restarts: readonly Restart[] = [
  {
    name: 'agent ended by SIGTERM',
    forwards: true,
    run: () => restartProcess(NODE, 'agent', 'TERM'),
  },
  {
    name: 'agent ended by SIGKILL',
    forwards: true,
    run: () => restartProcess(NODE, 'agent', 'KILL'),
  },
  {
    name: `agent ended by SIGKILL while ${MORE_PODS} pods are created on its node`,
    forwards: true,
    run: restartWhilePodsAreCreated,
  },
  { name: 'kubelet ended by SIGKILL', forwards: true, run: () => restartService('kubelet') },
  { name: 'containerd ended by SIGKILL', forwards: true, run: () => restartService('containerd') },
  { name: 'VPP ended by SIGKILL', forwards: false, run: () => restartProcess(NODE, 'vpp', 'KILL') },
  { name: 'node switched off and on', forwards: false, run: restartNode },
];

export const restartSuite: Suite = {
  title: 'Restarts while pods are asked ten times a second',
  notRun: [],
  run: async (settings): Promise<SuiteRun> => {
    const load = await Load.start();
    try {
      const cases: CaseResult[] = [];
      const measures: string[] = [];
      for (const restart of restarts) {
        const { result, measure } = await runRestart(restart, load, settings);
        cases.push(result);
        if (measure !== undefined) measures.push(measure);
      }
      return { cases, measures };
    } finally {
      load.stop();
    }
  },
};

async function runRestart(
  { name, forwards, run }: Restart,
  load: Load,
  settings: ClusterSettings,
): Promise<{ readonly result: CaseResult; readonly measure?: string }> {
  const start = Date.now();
  const seconds = (): number => Math.round((Date.now() - start) / 1000);
  try {
    await run(load, settings);
    await whenReady(settings);
    const ready = Date.now();
    const checked = forwards ? start : ready + SETTLE_MS;
    const end = ready + SETTLE_MS + COUNTED_MS;
    const requests = await load.requests(start, end);
    const late = requests.lost.filter((time) => time >= checked);
    const measure = `${name}: ${lossText(requests, start)}; ready again after ${tenths(ready - start)} s`;
    const message = late.length === 0 ? '' : measure;
    const outcome = late.length === 0 && requests.all > 0 ? 'passed' : 'failed';
    return { result: { name, outcome, message, seconds: seconds() }, measure };
  } catch (thrown) {
    return { result: { name, outcome: 'failed', message: String(thrown), seconds: seconds() } };
  }
}

/** `3 of 250 requests lost, from 0.2 s to 1.4 s after it`. */
export function lossText({ all, lost }: Requests, start: number): string {
  const counted = `${lost.length} of ${all} requests lost`;
  if (lost.length === 0) return counted;
  const [first, last] = [Math.min(...lost), Math.max(...lost)];
  return `${counted}, from ${tenths(first - start)} s to ${tenths(last - start)} s after it`;
}

const tenths = (ms: number): string => (ms / 1000).toFixed(1);

async function restartService(service: NodeService): Promise<void> {
  const before = servicePid(NODE, service);
  killService(NODE, service);
  await until(`${service} runs again`, () => servicePid(NODE, service) !== before);
  await sleep(5000);
}

async function restartNode(load: Load, settings: ClusterSettings): Promise<void> {
  await killNode(NODE);
  const off = Date.now();
  await sleep(3000);
  await startNode(NODE, settings);
  await untilReady(NODE);
  // The API server has the states from before until kubelet has reported.
  await load.untilBackendsStarted(off);
}

interface PodList {
  readonly items: readonly { readonly status: { readonly podIP?: string } }[];
}

/** @throws when a pod does not start, or two have one address */
async function restartWhilePodsAreCreated(): Promise<void> {
  createNamespace(MORE);
  try {
    const labels = { app: 'more' };
    const container = { name: 'pause', image: AGNHOST, args: ['pause'] };
    apply({
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'more', namespace: MORE },
      spec: {
        replicas: MORE_PODS,
        selector: { matchLabels: labels },
        template: {
          metadata: { labels },
          spec: {
            nodeName: nodeName(NODE),
            terminationGracePeriodSeconds: 0,
            containers: [container],
          },
        },
      },
    });
    await sleep(1000);
    await restartProcess(NODE, 'agent', 'KILL');
    kubectl('-n', MORE, 'rollout', 'status', 'deployment/more', '--timeout=180s');
    const { items } = getObject<PodList>('-n', MORE, 'pods');
    const addresses = new Set(items.map(({ status }) => status.podIP));
    if (addresses.size !== MORE_PODS || addresses.has(undefined))
      throw new Error(`${MORE_PODS} pods have the addresses ${[...addresses].join(', ')}`);
  } finally {
    deleteNamespace(MORE);
  }
}
