/** Size and parts of a cluster, which `up` stores for the commands that come later. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { type AddressFamily, addressFamilies } from './address-family.ts';
import { clusterSettingsFile, folderOf } from './folder.ts';

export interface ClusterSettings {
  readonly nodes: number;
  readonly kubeProxy: (typeof kubeProxyModes)[number];
  /** Of pods, services and nodes, one or two; the primary one is the first. */
  readonly families: readonly AddressFamily[];
  /** Folders of the tree of which its images were made, with their hashes; undefined: it is not up yet. */
  readonly trees?: readonly string[];
}

/** `none`: services are the agent's alone. */
export const kubeProxyModes = ['iptables', 'nftables', 'none'] as const;

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
};

/** @throws Error for a value that no cluster has */
export function settingsOf(env: Readonly<Record<string, string | undefined>>): ClusterSettings {
  const nodes = Number(env['CLUSTER_NODES'] ?? defaultSettings.nodes);
  if (!Number.isInteger(nodes) || nodes < 1 || nodes > 9)
    throw new Error('CLUSTER_NODES: say a number from 1 to 9');
  const kubeProxy = kubeProxyModes.find(
    (mode) => mode === (env['CLUSTER_KUBE_PROXY'] ?? defaultSettings.kubeProxy),
  );
  if (kubeProxy === undefined)
    throw new Error(`CLUSTER_KUBE_PROXY: say ${kubeProxyModes.join(', ')}`);
  return { nodes, kubeProxy, families: familiesOf(env['CLUSTER_FAMILIES']) };
}

function familiesOf(text: string | undefined): readonly AddressFamily[] {
  if (text === undefined) return defaultSettings.families;
  const families = text.split(',').map((word) => addressFamilies.find((name) => name === word));
  const known = families.filter((family) => family !== undefined);
  if (known.length < families.length || new Set(known).size < known.length)
    throw new Error('CLUSTER_FAMILIES: say ipv4, ipv6, ipv4,ipv6 or ipv6,ipv4');
  return known;
}

/** Results of clusters of IPv4 do not name the family. */
export const clusterText = ({ nodes, kubeProxy, families }: ClusterSettings): string =>
  [
    `${nodes} nodes`,
    `kube-proxy: ${kubeProxy}`,
    ...(families.join() === 'ipv4' ? [] : [families.join(' and ')]),
  ].join(', ');
