/**
 * Requirements of suites on the machine that runs them. Each function returns false when the machine has
 * it, otherwise the reason to skip, always in the form `needs X: install Y`:
 *
 *     describe('store on etcd', { skip: withoutEtcd() }, …)
 *
 * `.ci/run` compares each reason with the machine (scripts/lib/skip-reasons.ts): a skip whose reason
 * is not true there fails the run.
 */
import { spawnSync } from 'node:child_process';
import { accessSync, constants, existsSync, readdirSync, statSync } from 'node:fs';
import { delimiter, join, resolve } from 'node:path';
import { test } from 'node:test';
import { clusterFolder, clusterSettingsFile } from '../cluster/folder.ts';
import { type Capability, hasCapability } from './capabilities.ts';
import { hasSocketHooks } from './socket-hooks.ts';
import { hasVhostNet } from './vhost-net.ts';

export type SkipReason = string | false;

const repository = resolve(import.meta.dirname, '../..');

/** Programs that suites call, with the Debian package (or the origin) of each. */
const packages = {
  etcd: 'etcd-server',
  curl: 'curl',
  etcdctl: 'etcd-client',
  openssl: 'openssl',
  ip: 'iproute2',
  ethtool: 'ethtool',
  ping: 'iputils-ping',
  nsenter: 'util-linux',
  setpriv: 'util-linux',
  prlimit: 'util-linux',
  chrt: 'util-linux',
  containerd: 'containerd',
  crun: 'crun',
  socat: 'socat',
  unshare: 'util-linux',
  iptables: 'iptables',
  nft: 'nftables',
  sysctl: 'procps',
  dnsmasq: 'dnsmasq-base',
  gcc: 'gcc and libc6-dev',
  java: 'openjdk-17-jre-headless',
  prometheus: 'prometheus',
  promtool: 'prometheus',
  bash: 'bash',
  chromium: 'chromium',
  zsh: 'zsh',
  fish: 'fish',
  nfcapd: 'nfdump',
  nfdump: 'nfdump',
  script: 'bsdutils',
  mount: 'mount',
  umount: 'mount',
  vpp: 'FD.io VPP 24.10, 25.10, 26.06 or 26.10',
  vppctl: 'FD.io VPP 24.10, 25.10, 26.06 or 26.10',
  go: 'Go from https://go.dev/dl',
  'kube-apiserver': 'Kubernetes 1.33 or later, or name the folder of its programs in KUBE_BIN',
  'kube-controller-manager':
    'Kubernetes 1.33 or later, or name the folder of its programs in KUBE_BIN',
  'kube-proxy': 'Kubernetes 1.33 or later, or name the folder of its programs in KUBE_BIN',
  kubectl: 'Kubernetes 1.33 or later, or name the folder of its programs in KUBE_BIN',
  helm: 'Helm 3 or later, or name its folder in KUBE_BIN',
  kubeconform: 'it with `go install github.com/yannh/kubeconform/cmd/kubeconform@v0.8.0`',
  'kube-score': 'it with `go install github.com/zegl/kube-score/cmd/kube-score@v1.20.0`',
  cnitool: 'it with `go install github.com/containernetworking/cni/cnitool@v1.3.0`',
} as const;

type Program = keyof typeof packages;

/** Path of a program in the PATH. */
export function findProgram(name: string): string | undefined {
  const folders = (process.env['PATH'] ?? '').split(delimiter);
  return folders
    .map((folder) => join(folder, name))
    .find((file) => {
      try {
        accessSync(file, constants.X_OK);
        return true;
      } catch {
        return false;
      }
    });
}

export function withoutProgram(...names: readonly Program[]): SkipReason {
  for (const name of names)
    if (findProgram(name) === undefined)
      return `needs ${name} in the PATH: install ${packages[name]}`;
  return false;
}

type KubeClientProgram = 'helm' | 'kubeconform' | 'kube-score';

/** Path of a program of Kubernetes: in the folder that KUBE_BIN names, or in the PATH. */
export function findKubeProgram(
  name: 'kube-apiserver' | 'kube-proxy' | 'kube-controller-manager' | 'kubectl' | KubeClientProgram,
): string | undefined {
  const folder = process.env['KUBE_BIN'];
  if (folder === undefined) return findProgram(name);
  const path = join(folder, name);
  return existsSync(path) ? path : findProgram(name);
}

/** Programs that render and check the Helm chart. */
export function withoutKubeClients(...names: readonly KubeClientProgram[]): SkipReason {
  for (const name of names)
    if (findKubeProgram(name) === undefined)
      return `needs ${name} in the PATH: install ${packages[name]}`;
  return false;
}

/** A kube-apiserver that the test starts, on an etcd of its own. */
export function withoutKubernetes(): SkipReason {
  const named = process.env['KUBE_BIN'] !== undefined;
  return withoutProgram(
    'etcd',
    'setpriv',
    ...(named ? [] : (['kube-apiserver', 'kubectl'] as const)),
  );
}

/** A kube-proxy in mode nftables, with its API server, in namespaces of the test. */
export function withoutKubeProxy(): SkipReason {
  const named = process.env['KUBE_BIN'] !== undefined;
  return (
    withoutKubernetes() ||
    withoutKernel() ||
    withoutProgram('nft', 'sysctl', ...(named ? [] : (['kube-proxy'] as const)))
  );
}

/** The controllers that make endpoints of services. */
export function withoutKubeControllers(): SkipReason {
  return process.env['KUBE_BIN'] === undefined ? withoutProgram('kube-controller-manager') : false;
}

/** The contiv-ksr of Contiv/VPP, which only ORIGINAL_KSR names: ours has the same name. */
export function findOriginalKsr(): string | undefined {
  return process.env['ORIGINAL_KSR'];
}

export function withoutOriginalKsr(): SkipReason {
  return findOriginalKsr() === undefined
    ? "needs the original's contiv-ksr: build github.com/contiv/vpp/cmd/contiv-ksr, and name it in ORIGINAL_KSR"
    : false;
}

function withoutPath(path: string, remedy: string): SkipReason {
  return existsSync(path) ? false : `needs ${path}: ${remedy}`;
}

/**
 * Test vectors and the API definitions of VPP's releases, which are beside the repository.
 * @param path in the folder `../shared`
 */
export function withoutShared(path: string): SkipReason {
  return existsSync(resolve(repository, '../shared', path))
    ? false
    : `needs ../shared/${path}: copy the shared files beside the repository`;
}

export function withoutRoot(): SkipReason {
  return process.platform === 'linux' && process.getuid?.() === 0
    ? false
    : 'needs root on Linux: run as root';
}

/** A right that root lacks on some machines. */
export function withoutCapability(name: Capability): SkipReason {
  return (
    withoutRoot() ||
    (hasCapability(name) ? false : `needs the capability ${name}: grant CAP_${name}`)
  );
}

export function withoutEtcd(): SkipReason {
  return withoutProgram('etcd');
}

/** Backups, and which member leads. */
export function withoutEtcdctl(): SkipReason {
  return withoutProgram('etcdctl');
}

/** Calls as an operator types them. */
export function withoutCurl(): SkipReason {
  return withoutProgram('curl');
}

export function withoutOpenssl(): SkipReason {
  return withoutProgram('openssl');
}

/** A VPP without devices, in the namespaces of the test. */
export function withoutVpp(): SkipReason {
  return withoutProgram('vpp');
}

/** A VPP in a network namespace of its own. */
export function withoutIsolatedVpp(): SkipReason {
  return withoutRoot() || withoutProgram('vpp', 'setpriv', 'unshare', 'ip', 'nsenter');
}

/** VPP_CASES=all, of suites on real nodes that otherwise run a part of their table. */
export const runsAllCases = process.env['VPP_CASES'] === 'all';

/** TAPs of a VPP that the test starts. */
export function withoutVhostNet(): SkipReason {
  return hasVhostNet() ? false : 'needs /dev/vhost-net: load the kernel module vhost_net';
}

/** Interfaces, routes and neighbors of this machine's kernel, in network namespaces of the test. */
export function withoutKernel(): SkipReason {
  return withoutRoot() || withoutProgram('ip', 'ethtool', 'nsenter') || withoutNamespaces();
}

/** Programs of the kernel at the sockets of a control group of the test. */
export function withoutSocketHooks(): SkipReason {
  if (withoutKernel() || withoutMount()) return withoutKernel() || withoutMount();
  return hasSocketHooks()
    ? false
    : 'needs BPF at control groups: grant CAP_SYS_ADMIN on Linux 5.10 or later';
}

/** Nodes with their own network namespace, VPP, etcd and agent. */
export function withoutNodes(): SkipReason {
  return (
    withoutRoot() ||
    withoutProgram(
      'vpp',
      'vppctl',
      'etcd',
      'ip',
      'nsenter',
      'setpriv',
      'chrt',
      'ethtool',
      'ping',
    ) ||
    withoutNamespaces() ||
    withoutRealTimeScheduling()
  );
}

/** A library that a test compiles and preloads. */
export function withoutCompiler(): SkipReason {
  return withoutProgram('gcc');
}

/** Folder with the folders that scripts/fetch-kafka.ts makes. */
const KAFKA_FOLDER = '.cache/kafka';

/**
 * Folder with the jars of a Kafka broker: the one that KAFKA_LIBS names, or that of the release that
 * was fetched last.
 */
export function findKafka(): string | undefined {
  const named = process.env['KAFKA_LIBS'];
  if (named !== undefined) return named;
  const folder = resolve(repository, KAFKA_FOLDER);
  if (!existsSync(folder)) return undefined;
  const made = (name: string): number => statSync(join(folder, name)).mtimeMs;
  const [last] = readdirSync(folder).toSorted((a, b) => made(b) - made(a));
  return last === undefined ? undefined : join(folder, last, 'libs');
}

/** A Kafka broker that the test starts. */
export function withoutKafka(): SkipReason {
  if (findKafka() === undefined)
    return `needs ${KAFKA_FOLDER}: run node scripts/fetch-kafka.ts, or set KAFKA_LIBS`;
  return withoutProgram('java');
}

/** A file system of the test's own. */
export function withoutMount(): SkipReason {
  return withoutRoot() || withoutProgram('mount', 'umount') || withoutNamespaces();
}

/** Checks of metrics and rules, and a server that scrapes. */
export function withoutPrometheus(): SkipReason {
  return withoutProgram('prometheus', 'promtool', 'setpriv');
}

export function withoutDhcpServer(): SkipReason {
  return withoutProgram('dnsmasq');
}

/** Programs of Kubernetes that `npm run test:kubernetes` builds, and no cluster of that command. */
export function withoutCluster(): SkipReason {
  const images = join(clusterFolder, 'images');
  if (!existsSync(join(images, 'agnhost.tar')))
    return `needs ${images}: make it with \`npm run test:kubernetes -- programs\` and \`… -- images\``;
  if (existsSync(clusterSettingsFile))
    return 'needs a machine without a cluster: end it with `npm run test:kubernetes -- down`';
  return withoutNodes() || withoutProgram('containerd', 'crun', 'socat');
}

/** Folder of the CNI reference plugins in Debian. */
export const CNI_PLUGINS = '/usr/lib/cni';

/** The plugins that are chained with contiv-cni. */
export function withoutCniPlugins(): SkipReason {
  return (
    withoutPath(join(CNI_PLUGINS, 'portmap'), 'install containernetworking-plugins') ||
    withoutProgram('iptables')
  );
}

/** The client with the gRPC version of the original contiv-cni. */
export function withoutGo(): SkipReason {
  return withoutProgram('go');
}

export function withoutCnitool(): SkipReason {
  return withoutProgram('cnitool');
}

let namespaces: SkipReason | undefined;

function withoutNamespaces(): SkipReason {
  namespaces ??=
    spawnSync('unshare', ['--net', 'true']).status === 0
      ? false
      : 'needs network namespaces: grant CAP_SYS_ADMIN';
  return namespaces;
}

function withoutRealTimeScheduling(): SkipReason {
  return spawnSync('chrt', ['--fifo', '10', 'true']).status === 0
    ? false
    : 'needs real-time scheduling: grant CAP_SYS_NICE';
}

/**
 * Declares suites that need their machine already while they are declared.
 * @param reason they cannot run here: then one skipped test stands for all of them
 */
export async function declareUnless(
  reason: SkipReason,
  title: string,
  declare: () => void | Promise<void>,
): Promise<void> {
  if (reason) test(title, { skip: reason }, () => undefined);
  else await declare();
}
