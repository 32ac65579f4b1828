/**
 * A node: namespaces of its own for processes, mounts, names and network, in which node-init.sh runs
 * containerd and kubelet. Its disk is a folder.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CNI_PLUGINS } from '#test/support/requirements.ts';
import { until } from '#test/support/wait.ts';
import { networksOf } from './address-family.ts';
import { pidOf, startDetached, stopDetached } from './detached-process.ts';
import { folderOf } from './folder.ts';
import { programPath } from './go-programs.ts';
import { authorityFile, kubeconfig } from './kubeconfig.ts';
import { enterNetns, gateway, hostAddress, netnsOf, nodeName } from './network.ts';
import type { ClusterSettings } from './settings.ts';

const BOOT_LIMIT_MS = 120_000;
const CGROUP = '/sys/fs/cgroup';

const processName = (node: number): string => `node-${nodeName(node)}`;

/** Files of a node that do not survive when it is switched off, and logs, which do. */
const runFolder = (node: number): string => folderOf('run', nodeName(node));
const diskFolder = (node: number): string => folderOf('run', `${nodeName(node)}-disk`);

/** Switches it on. Resolves when containerd answers. */
export async function startNode(node: number, settings: ClusterSettings): Promise<void> {
  const run = runFolder(node);
  rmSync(join(run, 'booted'), { force: true });
  const documents = {
    'kubelet.yaml': kubeletConfiguration(node, settings),
    'kube-proxy.yaml': kubeProxyConfiguration(settings),
  };
  // JSON is YAML
  for (const [name, document] of Object.entries(documents))
    writeFileSync(join(run, name), JSON.stringify(document));
  writeFileSync(join(run, 'containerd.toml'), CONTAINERD);
  writeFileSync(join(run, 'kubelet.conf'), readFileSync(kubeconfig(nodeName(node))));
  const variables = {
    PATH: process.env['PATH'] ?? '',
    NODE: nodeName(node),
    DISK: diskFolder(node),
    RUN: run,
    PROGRAMS: join(programPath('kubelet'), '..'),
    ADDRESSES: settings.families.map((family) => hostAddress(node, family)).join(),
    GATEWAY: gateway(settings.families[0]!),
    CNI_PLUGINS,
    CGROUPS: isUnified() ? '2' : '1',
    SERVICES: settings.kubeProxy === 'none' ? '' : 'kube-proxy',
  };
  startDetached(processName(node), [
    ...enterNetns(netnsOf(node)),
    ...['unshare', '--mount', '--uts', '--ipc', '--pid', '--fork', '--kill-child', '--mount-proc'],
    ...['--propagation', 'private', 'env', '-i'],
    ...Object.entries(variables).map(([name, value]) => `${name}=${value}`),
    ...['bash', join(import.meta.dirname, 'node-init.sh')],
  ]);
  await until(
    `${nodeName(node)} has booted`,
    () => {
      if (pidOf(processName(node)) === undefined) throw new Error(`${nodeName(node)} ended`);
      return existsSync(join(run, 'booted'));
    },
    BOOT_LIMIT_MS,
  );
}

/** Switches it off: all of its processes end at once. */
export async function killNode(node: number): Promise<void> {
  await stopDetached(processName(node), 'SIGKILL');
}

/** Removes what a node that is off has left on the machine. */
export function removeNode(node: number): void {
  const groups = isUnified()
    ? [join(CGROUP, `cv-${nodeName(node)}`)]
    : spawnSync('sh', ['-c', `ls -d ${CGROUP}/*/cv-${nodeName(node)}`], { encoding: 'utf8' })
        .stdout.split('\n')
        .filter((path) => path !== '');
  // Groups are removed from the leaves on; a folder with files in it cannot be removed otherwise.
  for (const group of groups) spawnSync('find', [group, '-depth', '-type', 'd', '-delete']);
}

/** Words before a command that runs it in a node. */
export function enterNode(node: number): string[] {
  const outer = pidOf(processName(node));
  if (outer === undefined) throw new Error(`${nodeName(node)} is off`);
  // `unshare` waits for process 1 of the node, its only child.
  const children = readFileSync(`/proc/${outer}/task/${outer}/children`, 'utf8').trim();
  return ['nsenter', '-t', children, '-m', '-u', '-i', '-n', '-p'];
}

/** Runs a command in a node. @returns what it printed @throws when it fails */
export function runInNode(node: number, ...command: readonly string[]): string {
  const [program, ...args] = [...enterNode(node), ...command];
  return execFileSync(program!, args, { encoding: 'utf8', maxBuffer: 64 << 20 });
}

/** Programs that node-init.sh starts again a second after their end. */
export type NodeService = 'containerd' | 'kubelet';

/** Its id in the process namespace of the node. */
export const servicePid = (node: number, service: NodeService): string =>
  readFileSync(join(runFolder(node), `${service}.pid`), 'utf8').trim();

export function killService(node: number, service: NodeService): void {
  runInNode(node, 'kill', '-KILL', servicePid(node, service));
}

export function importImages(node: number, archives: readonly string[]): void {
  for (const archive of archives)
    runInNode(node, 'ctr', '-n', 'k8s.io', 'images', 'import', '--no-unpack', archive);
}

const isUnified = (): boolean => existsSync(join(CGROUP, 'cgroup.controllers'));

function kubeletConfiguration(node: number, { families }: ClusterSettings): object {
  return {
    apiVersion: 'kubelet.config.k8s.io/v1beta1',
    kind: 'KubeletConfiguration',
    authentication: {
      anonymous: { enabled: false },
      webhook: { enabled: true },
      x509: { clientCAFile: authorityFile() },
    },
    authorization: { mode: 'Webhook' },
    cgroupDriver: 'cgroupfs',
    cgroupRoot: `/cv-${nodeName(node)}`,
    failCgroupV1: false,
    clusterDNS: [networksOf[families[0]!].dns],
    clusterDomain: 'cluster.local',
    containerRuntimeEndpoint: 'unix:///run/containerd/containerd.sock',
    resolvConf: '/etc/resolv.conf',
    failSwapOn: false,
    // The disk is that of the machine, which others fill.
    imageGCHighThresholdPercent: 100,
    evictionHard: {
      'memory.available': '100Mi',
      'nodefs.available': '1%',
      'imagefs.available': '1%',
    },
    enforceNodeAllocatable: [],
    serializeImagePulls: false,
    kubeAPIQPS: 50,
    kubeAPIBurst: 100,
  };
}

function kubeProxyConfiguration({ kubeProxy, families }: ClusterSettings): object {
  return {
    apiVersion: 'kubeproxy.config.k8s.io/v1alpha1',
    kind: 'KubeProxyConfiguration',
    clientConnection: { kubeconfig: kubeconfig('kube-proxy') },
    mode: kubeProxy,
    clusterCIDR: families.map((family) => networksOf[family].ipam['podSubnetCIDR']).join(),
    bindAddress: networksOf[families[0]!].anyAddress,
    // Limits of the machine, which are not those of a node.
    conntrack: { maxPerCore: 0, min: 0, tcpEstablishedTimeout: '0s', tcpCloseWaitTimeout: '0s' },
  };
}

const CONTAINERD = `version = 2
root = "/var/lib/containerd"
state = "/run/containerd"
[grpc]
  address = "/run/containerd/containerd.sock"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "registry.k8s.io/pause:3.10.1"
  disable_apparmor = true
  restrict_oom_score_adj = true
  [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
    runtime_type = "io.containerd.runc.v2"
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
      BinaryName = "/usr/bin/crun"
`;
