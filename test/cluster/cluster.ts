/** The stages `up` and `down`: networks, control plane, nodes, and the deployment of this tree. */
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { bracketed, networksOf } from './address-family.ts';
import { startControlPlane, stopControlPlane } from './control-plane.ts';
import { detachedNames, startDetached, stopDetached } from './detached-process.ts';
import { folderOf } from './folder.ts';
import { imageArchives } from './images.ts';
import { apply, getObject, kubectl } from './kubectl.ts';
import { clusterObjects, exceptionsOf, ownDeployment } from './manifests.ts';
import { createNetworks, enterNetns, nodeName, OUTSIDE, removeNetworks } from './network.ts';
import { importImages, killNode, removeNode, startNode } from './node.ts';
import { type ClusterSettings, readSettings, writeSettings } from './settings.ts';
import { readImageTrees } from './trees.ts';

const READY_LIMIT_MS = 300_000;

/** 56 pages of 2 MB a VPP; twice as many, because a VPP starts while the one before ends. */
const HUGE_PAGES_PER_NODE = 150;
/** Kubelet and containerd watch many files. */
const INOTIFY_INSTANCES = 8192;

const sysctls = {
  hugePages: '/proc/sys/vm/nr_hugepages',
  inotify: '/proc/sys/fs/inotify/max_user_instances',
};

export interface NodeObject {
  readonly metadata: { readonly name: string };
  readonly status: {
    readonly conditions: readonly { readonly type: string; readonly status: string }[];
  };
}

/** Resolves when all nodes are Ready and DNS serves. */
export async function clusterUp(
  settings: ClusterSettings,
  print: (line: string) => void,
): Promise<void> {
  await clusterDown();
  const timed = timer(print);
  writeSettings({ ...settings, trees: readImageTrees() });
  saveSysctls(settings.nodes);
  createNetworks(settings);
  for (const family of settings.families) {
    const kind = family === 'ipv6' ? 'TCP6' : 'TCP4';
    const listen = `${kind}-LISTEN:53,bind=${bracketed(networksOf[family].internet)},reuseaddr,fork`;
    startDetached(`internet-${family}`, [...enterNetns(OUTSIDE), 'socat', listen, 'EXEC:cat']);
  }
  await startControlPlane(settings);
  timed('control plane');
  const nodes = nodeNumbers(settings);
  await Promise.all(nodes.map((node) => startNode(node, settings)));
  apply(...clusterObjects(settings));
  for (const node of nodes) importImages(node, imageArchives());
  timed('nodes with images');
  await whenever('all nodes are registered', () => registeredNodes().length === nodes.length);
  kubectl('label', 'node', nodeName(1), 'node-role.kubernetes.io/control-plane=', '--overwrite');
  apply(...ownDeployment(settings));
  for (const exception of exceptionsOf(settings)) print(`not as shipped: ${exception}`);
  await whenReady(settings);
  timed('Ready');
}

/** Resolves when all nodes are Ready, and all pods of kube-system. */
export async function whenReady(settings: ClusterSettings): Promise<void> {
  await whenever(
    'all nodes are Ready',
    () => registeredNodes().filter(isReady).length === settings.nodes,
  );
  const limit = `--timeout=${READY_LIMIT_MS / 1000}s`;
  kubectl('-n', 'kube-system', 'wait', 'pods', '--all', '--for=condition=Ready', limit);
}

/** Ends all that belongs to a cluster, also of one whose command was killed. */
export async function clusterDown(): Promise<void> {
  const settings = readSettings();
  if (settings === undefined) return;
  const nodes = nodeNumbers(settings);
  await Promise.all(nodes.map(killNode));
  await stopControlPlane();
  for (const name of detachedNames()) await stopDetached(name, 'SIGTERM');
  for (const node of nodes) removeNode(node);
  removeNetworks(settings.nodes);
  restoreSysctls();
  // what a killed command has started may still write there
  rmSync(folderOf('run'), { recursive: true, maxRetries: 10, retryDelay: 500 });
}

export const nodeNumbers = ({ nodes }: ClusterSettings): number[] =>
  Array.from({ length: nodes }, (_, i) => i + 1);

function registeredNodes(): readonly NodeObject[] {
  return getObject<{ items: readonly NodeObject[] }>('nodes').items;
}

const isReady = ({ status }: NodeObject): boolean =>
  status.conditions.some(({ type, status }) => type === 'Ready' && status === 'True');

async function whenever(what: string, condition: () => boolean): Promise<void> {
  const end = performance.now() + READY_LIMIT_MS;
  while (!condition()) {
    if (performance.now() > end) throw new Error(`not within ${READY_LIMIT_MS / 1000} s: ${what}`);
    await sleep(1000);
  }
}

const sysctlFile = (): string => join(folderOf('run'), 'sysctls.json');

function saveSysctls(nodes: number): void {
  const values = Object.values(sysctls).map((file) => [file, readFileSync(file, 'utf8').trim()]);
  writeFileSync(sysctlFile(), JSON.stringify(values));
  const before = Number(readFileSync(sysctls.hugePages, 'utf8'));
  writeFileSync(sysctls.hugePages, String(before + nodes * HUGE_PAGES_PER_NODE));
  writeFileSync(sysctls.inotify, String(INOTIFY_INSTANCES));
}

function restoreSysctls(): void {
  if (!existsSync(sysctlFile())) return;
  const values: readonly (readonly [string, string])[] = JSON.parse(
    readFileSync(sysctlFile(), 'utf8'),
  );
  for (const [file, value] of values) writeFileSync(file, value);
}

function timer(print: (line: string) => void): (what: string) => void {
  const start = performance.now();
  return (what) => print(`${what} after ${Math.round((performance.now() - start) / 1000)} s`);
}
