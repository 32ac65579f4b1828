/** An API server with the large cluster: lists in pages, and watches in which nothing happens. */
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type LargeKind, largeCluster } from './large-cluster.ts';

const RESOURCE_VERSION = '9000000';

const kinds = new Map(largeCluster.map((kind) => [kind.path, kind]));

export class LargeApiServer implements AsyncDisposable {
  readonly #server: Server;
  readonly #folder = mkdtempSync(join(tmpdir(), 'large-api-server-'));

  static async start(): Promise<LargeApiServer> {
    const server = createServer({ keepAliveTimeout: 0 }, (request, response) => {
      const { pathname, searchParams } = new URL(request.url ?? '/', 'http://server');
      answer(kinds.get(pathname), searchParams, response);
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new LargeApiServer(server);
  }

  private constructor(server: Server) {
    this.#server = server;
    const { port } = server.address() as AddressInfo;
    const config = {
      apiVersion: 'v1',
      kind: 'Config',
      // The library accepts unencrypted connections only with this key.
      clusters: [
        {
          name: 'large',
          cluster: { server: `http://127.0.0.1:${port}`, 'insecure-skip-tls-verify': true },
        },
      ],
      users: [{ name: 'large', user: {} }],
      contexts: [{ name: 'large', context: { cluster: 'large', user: 'large' } }],
      'current-context': 'large',
    };
    // JSON is YAML
    writeFileSync(this.kubeconfig, JSON.stringify(config));
  }

  get kubeconfig(): string {
    return join(this.#folder, 'kubeconfig');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
    rmSync(this.#folder, { recursive: true });
  }
}

function answer(
  kind: LargeKind | undefined,
  query: URLSearchParams,
  response: ServerResponse,
): void {
  response.setHeader('content-type', 'application/json');
  if (kind === undefined) {
    response.writeHead(404).end('{}');
    return;
  }
  if (query.has('watch')) {
    response.flushHeaders();
    setTimeout(() => response.end(), 1_000 * Number(query.get('timeoutSeconds') ?? 60));
    return;
  }
  const { count, object, apiVersion } = kind;
  const from = Number(query.get('continue') ?? 0);
  const end = Math.min(count, from + Number(query.get('limit') ?? count));
  const items = Array.from({ length: end - from }, (_, at) => object(from + at));
  const metadata = { resourceVersion: RESOURCE_VERSION, continue: end < count ? `${end}` : '' };
  response.end(JSON.stringify({ apiVersion, kind: `${kind.kind}List`, metadata, items }));
}
