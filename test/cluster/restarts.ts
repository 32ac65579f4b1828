/** The suite `restarts`: parts of the second node end while a client of the first one asks its pods. */
import { setTimeout as sleep } from 'node:timers/promises';
import { until } from '#test/support/wait.ts';
import { type Disturbance, runDisturbances } from './disturbances.ts';
import { apply, getObject, kubectl } from './kubectl.ts';
import { AGNHOST, Load } from './load.ts';
import { createNamespace, deleteNamespace } from './namespaces.ts';
import { nodeName } from './network.ts';
import { killNode, killService, type NodeService, servicePid, startNode } from './node.ts';
import type { ClusterSettings } from './settings.ts';
import type { Suite } from './suite.ts';
import { restartProcess, untilReady } from './vswitch.ts';

const NODE = 2;
const MORE = 'restarts';
const MORE_PODS = 10;

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
  run: async (settings) => {
    const load = await Load.start();
    try {
      return await runDisturbances(restarts, load, settings);
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
