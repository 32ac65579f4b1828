/** The suite `upgrade`: from the agent before its last change to that of this tree, as docs/upgrade.md says. */
import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { resolve } from 'node:path';
import { until } from '#test/support/wait.ts';
import { nodeNumbers } from './cluster.ts';
import { type Disturbance, runDisturbances } from './disturbances.ts';
import { folderOf } from './folder.ts';
import { buildAgentImage, OWN_TAG } from './images.ts';
import { getObject, kubectl } from './kubectl.ts';
import { Load } from './load.ts';
import { nodeName } from './network.ts';
import { importImages } from './node.ts';
import type { ClusterSettings } from './settings.ts';
import type { Suite } from './suite.ts';
import { untilReady } from './vswitch.ts';

const repository = resolve(import.meta.dirname, '../..');
/** Of what the image of the agent is made. */
const parts = ['src', 'plugins', 'Dockerfile', 'package-lock.json'];
const TAG = 'before';
const CONTAINER = 'contiv-agent';
const LIMIT_MS = 180_000;

interface Pod {
  readonly metadata: { readonly name: string };
  readonly status: {
    readonly containerStatuses?: readonly {
      readonly name: string;
      readonly containerID?: string;
      readonly ready: boolean;
    }[];
  };
}

const disturbances: readonly Disturbance[] = [
  {
    name: 'agents upgraded in their pods, one node after the other',
    forwards: true,
    prepare: (settings) => setAgents(settings, TAG),
    run: (_, settings) => setAgents(settings, OWN_TAG),
  },
  { name: 'pod of agent and VPP of one node replaced', forwards: false, run: () => replacePod(2) },
];

export const upgradeSuite: Suite = {
  title: 'Upgrade from the agent before its last change',
  needs: { what: 'IPv4', isMet: ({ families }) => families.join() === 'ipv4' },
  notRun: ['VPP by another release, which is not installed'],
  run: async (settings) => {
    const archive = await buildBefore();
    for (const node of nodeNumbers(settings)) importImages(node, [archive]);
    const load = await Load.start();
    try {
      return await runDisturbances(disturbances, load, settings);
    } finally {
      load.stop();
    }
  },
};

/** @returns the archive with the image of the agent before its last change */
async function buildBefore(): Promise<string> {
  const checkout = folderOf('before');
  const git = (...args: string[]): string =>
    execFileSync('git', ['-C', repository, ...args], { encoding: 'utf8' }).trim();
  rmSync(checkout, { recursive: true });
  git('worktree', 'prune');
  const change = git('rev-list', '-1', 'HEAD', '--', ...parts);
  git('worktree', 'add', '--quiet', '--detach', checkout, `${change}~1`);
  try {
    return await buildAgentImage(() => {}, checkout, TAG);
  } finally {
    git('worktree', 'remove', '--force', checkout);
  }
}

/** Pod by pod; each agent is ready before the next one is changed. */
async function setAgents(settings: ClusterSettings, tag: string): Promise<void> {
  for (const node of nodeNumbers(settings)) {
    const { metadata, status } = vswitchPod(node)!;
    const before = agentContainer(status)?.containerID;
    const image = `${CONTAINER}=contiv-vswitch:${tag}`;
    kubectl('-n', 'kube-system', 'set', 'image', `pod/${metadata.name}`, image);
    await untilAgentStarted(node, before);
  }
}

async function replacePod(node: number): Promise<void> {
  const { metadata, status } = vswitchPod(node)!;
  kubectl('-n', 'kube-system', 'delete', 'pod', metadata.name);
  await untilAgentStarted(node, agentContainer(status)?.containerID);
}

async function untilAgentStarted(node: number, before: string | undefined): Promise<void> {
  await until(
    `the new agent of node ${node} is ready`,
    () => {
      const container = agentContainer(vswitchPod(node)?.status);
      return container?.ready === true && container.containerID !== before;
    },
    LIMIT_MS,
    500,
  );
  await untilReady(node);
}

const agentContainer = (status: Pod['status'] | undefined) =>
  status?.containerStatuses?.find(({ name }) => name === CONTAINER);

/** The one of a node; undefined while it is replaced. */
function vswitchPod(node: number): Pod | undefined {
  const of = ['-l', 'k8s-app=contiv-vswitch', `--field-selector=spec.nodeName=${nodeName(node)}`];
  return getObject<{ items: Pod[] }>('-n', 'kube-system', 'pods', ...of).items.at(-1);
}
