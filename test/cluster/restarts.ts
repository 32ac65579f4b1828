/** The suite `restarts`: parts of the second node end while a client of the first one asks its pods. */
import { setTimeout as sleep } from 'node:timers/promises';
import { until } from '#test/support/wait.ts';
import { nodeNumbers } from './cluster.ts';
import { type Disturbance, runDisturbances } from './disturbances.ts';
import { apply, getObject, kubectl } from './kubectl.ts';
import { AGNHOST, Load } from './load.ts';
import { createNamespace, deleteNamespace } from './namespaces.ts';
import { nodeName } from './network.ts';
import {
  killNode,
  killService,
  type NodeService,
  runInNode,
  servicePid,
  startNode,
} from './node.ts';
import type { ClusterSettings } from './settings.ts';
import type { Suite } from './suite.ts';
import { restartProcess, untilReady } from './vswitch.ts';

const NODE = 2;
const MORE = 'restarts';
const MORE_PODS = 10;
const PROXY = 'contiv-etcd-proxy';

const restarts: readonly Disturbance[] = [
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
    run: () => whilePodsAreCreated(() => restartProcess(NODE, 'agent', 'KILL')),
  },
  { name: 'kubelet ended by SIGKILL', forwards: true, run: () => restartService('kubelet') },
  { name: 'containerd ended by SIGKILL', forwards: true, run: () => restartService('containerd') },
  { name: 'VPP ended by SIGKILL', forwards: false, run: () => restartProcess(NODE, 'vpp', 'KILL') },
  { name: 'node switched off and on', forwards: false, run: restartNode },
];

/** Each once, so that each agent loses the one that it uses. */
const proxyRestarts: Disturbance = {
  name: `proxies of etcd ended by SIGKILL, one after the other, while ${MORE_PODS} pods are created`,
  forwards: true,
  run: (_, settings) =>
    whilePodsAreCreated(async () => {
      for (const node of nodeNumbers(settings)) await restartProxy(node);
    }),
};

export const restartSuite: Suite = {
  title: 'Restarts while pods are asked ten times a second',
  notRun: [],
  run: async (settings) => {
    const load = await Load.start();
    const all = settings.etcdProxies > 0 ? [...restarts, proxyRestarts] : restarts;
    try {
      return await runDisturbances(all, load, settings);
    } finally {
      load.stop();
    }
  },
};

async function restartService(service: NodeService): Promise<void> {
  const before = servicePid(NODE, service);
  killService(NODE, service);
  await until(`${service} runs again`, () => servicePid(NODE, service) !== before);
  await sleep(5000);
}

/** Resolves when its successor answers; a node without one is left alone. */
async function restartProxy(node: number): Promise<void> {
  const before = proxyPid(node);
  if (before === undefined) return;
  runInNode(node, 'kill', '-KILL', before);
  await until(`a proxy of etcd runs again on node ${node}`, () => {
    const pid = proxyPid(node);
    return pid !== undefined && pid !== before;
  });
  kubectl('-n', 'kube-system', 'rollout', 'status', `deployment/${PROXY}`, '--timeout=180s');
}

/** Its id in the process namespace of the node. */
function proxyPid(node: number): string | undefined {
  try {
    return runInNode(node, 'pgrep', '-f', '^[^ ]*etcd grpc-proxy').trim();
  } catch {
    return undefined;
  }
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
async function whilePodsAreCreated(restart: () => Promise<void>): Promise<void> {
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
    await restart();
    kubectl('-n', MORE, 'rollout', 'status', 'deployment/more', '--timeout=180s');
    const { items } = getObject<PodList>('-n', MORE, 'pods');
    const addresses = new Set(items.map(({ status }) => status.podIP));
    if (addresses.size !== MORE_PODS || addresses.has(undefined))
      throw new Error(`${MORE_PODS} pods have the addresses ${[...addresses].join(', ')}`);
  } finally {
    deleteNamespace(MORE);
  }
}
