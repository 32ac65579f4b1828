/** What a cluster is made of; `up` keeps it for the commands that come later. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { folderOf } from './folder.ts';

export interface ClusterSettings {
  readonly nodes: number;
  /** `none`: services are the agent's alone. */
  readonly kubeProxy: 'iptables' | 'nftables' | 'none';
}

export const defaultSettings: ClusterSettings = { nodes: 2, kubeProxy: 'iptables' };

const file = (): string => join(folderOf('run'), 'settings.json');

/** Settings of the cluster that is up, or was when its command ended; undefined without one. */
export function readSettings(): ClusterSettings | undefined {
  return existsSync(file()) ? JSON.parse(readFileSync(file(), 'utf8')) : undefined;
}

export function writeSettings(settings: ClusterSettings): void {
  writeFileSync(file(), JSON.stringify(settings));
}
