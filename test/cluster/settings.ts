/** Size and parts of a cluster, which `up` stores for the commands that come later. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { clusterSettingsFile, folderOf } from './folder.ts';

export interface ClusterSettings {
  readonly nodes: number;
  readonly kubeProxy: (typeof kubeProxyModes)[number];
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

export const defaultSettings: ClusterSettings = { nodes: 2, kubeProxy: 'iptables' };

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
  return { nodes, kubeProxy };
}

export const clusterText = ({ nodes, kubeProxy }: ClusterSettings): string =>
  `${nodes} nodes, kube-proxy: ${kubeProxy}`;
