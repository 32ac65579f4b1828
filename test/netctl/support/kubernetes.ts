/** An API server with some nodes and pods, and a kubeconfig for it. */
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface FakeKubernetes extends AsyncDisposable {
  readonly kubeconfig: string;
  /** Of the requests, in order. */
  readonly paths: readonly string[];
}

/** @param lists the documents by path, without the query */
export async function fakeKubernetes(
  lists: Readonly<Record<string, readonly object[]>>,
): Promise<FakeKubernetes> {
  const paths: string[] = [];
  const server = createServer(({ url = '', headers }, reply) => {
    paths.push(url);
    const items = lists[url.split('?')[0]!];
    const isAllowed = headers.authorization === 'Bearer secret';
    reply.statusCode = isAllowed && items ? 200 : 403;
    reply.end(JSON.stringify(isAllowed && items ? { items } : { message: 'nodes is forbidden' }));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const folder = mkdtempSync(join(tmpdir(), 'netctl-kube-'));
  const kubeconfig = join(folder, 'config');
  const cluster = { server: `http://127.0.0.1:${port}`, 'insecure-skip-tls-verify': true };
  const config = {
    'current-context': 'one',
    contexts: [{ name: 'one', context: { cluster: 'one', user: 'one' } }],
    clusters: [{ name: 'one', cluster }],
    users: [{ name: 'one', user: { token: 'secret' } }],
  };
  writeFileSync(kubeconfig, JSON.stringify(config));
  return {
    kubeconfig,
    paths,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      rmSync(folder, { recursive: true });
    },
  };
}

export function nodeObject(name: string, address: string): object {
  return { metadata: { name }, status: { addresses: [{ type: 'InternalIP', address }] } };
}
