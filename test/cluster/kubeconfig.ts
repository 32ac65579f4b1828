/** The clients of the API server: a token for each, which a file gives to the server. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { bracketed } from './address-family.ts';
import { folderOf } from './folder.ts';
import { hostAddress, nodeName } from './network.ts';
import { readSettings } from './settings.ts';

export const API_PORT = 6443;

function url(): string {
  const family = readSettings()?.families[0];
  if (family === undefined) throw new Error('there is no cluster');
  return `https://${bracketed(hostAddress(1, family))}:${API_PORT}`;
}

export const controlPlaneFile = (name: string): string => join(folderOf('run/control-plane'), name);

/** User and groups by the name of a client, whose token has the same name. */
function clients(nodes: number): Map<string, readonly [user: string, group: string]> {
  const all = new Map<string, readonly [string, string]>([
    ['admin', ['kubernetes-admin', 'system:masters']],
    ['kube-controller-manager', ['system:kube-controller-manager', '']],
    ['kube-scheduler', ['system:kube-scheduler', '']],
    ['kube-proxy', ['system:kube-proxy', '']],
  ]);
  for (let node = 1; node <= nodes; node++)
    all.set(nodeName(node), [`system:node:${nodeName(node)}`, 'system:nodes']);
  return all;
}

/** Path of the file that names them to the API server. */
export function tokenFile(nodes: number): string {
  const path = controlPlaneFile('tokens.csv');
  const lines = [...clients(nodes)].map(
    ([name, [user, group]]) => `token-${name},${user},${user},"${group}"\n`,
  );
  writeFileSync(path, lines.join(''));
  return path;
}

/** Certificates of kubelets, which trust this authority. */
export const authorityFile = (): string => controlPlaneFile('authority.crt');
/** The API server's, which it makes at its first start. */
export const serverCertificate = (): string => controlPlaneFile('apiserver.crt');

/** Path of the kubeconfig of a client; the API server must have started. */
export function kubeconfig(client = 'admin'): string {
  const path = controlPlaneFile(`${client}.conf`);
  const authority = readFileSync(serverCertificate()).toString('base64');
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [
      { name: 'test', cluster: { server: url(), 'certificate-authority-data': authority } },
    ],
    users: [{ name: client, user: { token: `token-${client}` } }],
    contexts: [{ name: 'test', context: { cluster: 'test', user: client } }],
    'current-context': 'test',
  };
  // JSON is YAML
  writeFileSync(path, JSON.stringify(config));
  return path;
}
