/** An API server with the large cluster: lists in pages, of the state at its start, and watches with what was changed since. */
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type LargeKind, type LargeObject, largeCluster } from './large-cluster.ts';

/** Of each list. */
const RESOURCE_VERSION = 9_000_000;

const kinds = new Map(largeCluster.map((kind) => [kind.path, kind]));

interface Change {
  readonly path: string;
  readonly line: string;
}

export class LargeApiServer implements AsyncDisposable {
  readonly #server: Server;
  /** The first has the version after that of the lists. */
  readonly #changes: Change[] = [];
  readonly #watches = new Set<{ readonly path: string; readonly response: ServerResponse }>();
  readonly #folder = mkdtempSync(join(tmpdir(), 'large-api-server-'));

  static async start(): Promise<LargeApiServer> {
    const server = createServer({ keepAliveTimeout: 0 }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const started = new LargeApiServer(server);
    server.on('request', ({ url = '/' }, response) => {
      const { pathname, searchParams } = new URL(url, 'http://server');
      response.setHeader('content-type', 'application/json');
      if (searchParams.has('watch')) started.#watch(pathname, searchParams, response);
      else answer(kinds.get(pathname), searchParams, response);
    });
    return started;
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

  /** Tells all watches of its kind that an object was changed. */
  change({ path, kind, apiVersion }: LargeKind, object: LargeObject): void {
    const { metadata } = object;
    const resourceVersion = `${RESOURCE_VERSION + this.#changes.length + 1}`;
    const changed = { apiVersion, kind, ...object, metadata: { ...metadata, resourceVersion } };
    const line = `${JSON.stringify({ type: 'MODIFIED', object: changed })}\n`;
    this.#changes.push({ path, line });
    for (const watch of this.#watches) if (watch.path === path) watch.response.write(line);
  }

  #watch(path: string, query: URLSearchParams, response: ServerResponse): void {
    response.flushHeaders();
    const from = Number(query.get('resourceVersion') ?? RESOURCE_VERSION) - RESOURCE_VERSION;
    for (const change of this.#changes.slice(from))
      if (change.path === path) response.write(change.line);
    const watch = { path, response };
    this.#watches.add(watch);
    const timer = setTimeout(
      () => response.end(),
      1_000 * Number(query.get('timeoutSeconds') ?? 60),
    );
    response.on('close', () => {
      clearTimeout(timer);
      this.#watches.delete(watch);
    });
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
  if (kind === undefined) {
    response.writeHead(404).end('{}');
    return;
  }
  const { count, object, apiVersion } = kind;
  const from = Number(query.get('continue') ?? 0);
  const end = Math.min(count, from + Number(query.get('limit') ?? count));
  const items = Array.from({ length: end - from }, (_, at) => object(from + at));
  const metadata = {
    resourceVersion: `${RESOURCE_VERSION}`,
    continue: end < count ? `${end}` : '',
  };
  response.end(JSON.stringify({ apiVersion, kind: `${kind.kind}List`, metadata, items }));
}
