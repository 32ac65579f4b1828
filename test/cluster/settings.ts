/** Size and parts of a cluster, which `up` stores for the commands that come later. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { type AddressFamily, addressFamilies } from './address-family.ts';
import { clusterSettingsFile, folderOf } from './folder.ts';

export interface ClusterSettings {
  readonly nodes: number;
  readonly kubeProxy: (typeof kubeProxyModes)[number];
  /** Of pods, services and nodes, one or two; the primary one is the first. */
  readonly families: readonly AddressFamily[];
  readonly transport: (typeof transports)[number];
  /** Number of proxies between the agents and etcd, each on a node of its own. */
  readonly etcdProxies: number;
  /** Folders of the tree of which its images were made, with their hashes; undefined: it is not up yet. */
  readonly trees?: readonly string[];
}

/** `none`: services are the agent's alone. */
export const kubeProxyModes = ['iptables', 'nftables', 'none'] as const;

/** `nodeToNodeTransport` of the agents. */
export const transports = ['vxlan', 'nooverlay', 'wireguard'] as const;

/** Settings of the cluster that is up, or was when its command ended; undefined without one. */
export function readSettings(): ClusterSettings | undefined {
  return existsSync(clusterSettingsFile)
    ? JSON.parse(readFileSync(clusterSettingsFile, 'utf8'))
    : undefined;
}

export function writeSettings(settings: ClusterSettings): void {
  folderOf('run');
  writeFileSync(clusterSettingsFile, JSON.stringify(settings));
}

export const defaultSettings: ClusterSettings = {
  nodes: 2,
  kubeProxy: 'iptables',
  families: ['ipv4'],
  transport: 'vxlan',
  etcdProxies: 0,
};

/** @throws Error for a value that no cluster has */
export function settingsOf(env: Readonly<Record<string, string | undefined>>): ClusterSettings {
  const nodes = Number(env['CLUSTER_NODES'] ?? defaultSettings.nodes);
  if (!Number.isInteger(nodes) || nodes < 1 || nodes > 9)
    throw new Error('CLUSTER_NODES: say a number from 1 to 9');
  const kubeProxy = oneOf(env, 'CLUSTER_KUBE_PROXY', kubeProxyModes, defaultSettings.kubeProxy);
  const transport = oneOf(env, 'CLUSTER_TRANSPORT', transports, defaultSettings.transport);
  const families = familiesOf(env['CLUSTER_FAMILIES']);
  const etcdProxies = Number(env['CLUSTER_ETCD_PROXIES'] ?? defaultSettings.etcdProxies);
  if (!Number.isInteger(etcdProxies) || etcdProxies < 0 || etcdProxies > nodes)
    throw new Error('CLUSTER_ETCD_PROXIES: say a number from 0 to that of the nodes');
  if (etcdProxies > 0 && kubeProxy === 'none')
    throw new Error('CLUSTER_ETCD_PROXIES: agents reach the proxies at a port of kube-proxy');
  return { nodes, kubeProxy, families, transport, etcdProxies };
}

function oneOf<T extends string>(
  env: Readonly<Record<string, string | undefined>>,
  name: string,
  words: readonly T[],
  byDefault: T,
): T {
  const found = words.find((word) => word === (env[name] ?? byDefault));
  if (found === undefined) throw new Error(`${name}: say ${words.join(', ')}`);
  return found;
}

function familiesOf(text: string | undefined): readonly AddressFamily[] {
  if (text === undefined) return defaultSettings.families;
  const families = text.split(',').map((word) => addressFamilies.find((name) => name === word));
  const known = families.filter((family) => family !== undefined);
  if (known.length < families.length || new Set(known).size < known.length)
    throw new Error('CLUSTER_FAMILIES: say ipv4, ipv6, ipv4,ipv6 or ipv6,ipv4');
  return known;
}

/** Results of clusters of IPv4 do not name the family, those with the default transport or without proxies not these. */
export const clusterText = ({
  nodes,
  kubeProxy,
  families,
  transport,
  etcdProxies,
}: ClusterSettings): string =>
  [
    `${nodes} nodes`,
    `kube-proxy: ${kubeProxy}`,
    ...(families.join() === 'ipv4' ? [] : [families.join(' and ')]),
    ...(transport === defaultSettings.transport ? [] : [transport]),
    ...(etcdProxies > 0 ? [`${etcdProxies} proxies of etcd`] : []),
  ].join(', ');
