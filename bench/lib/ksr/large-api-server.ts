/**
 * An API server with the large cluster: lists in pages, and watches with what was changed. A page has the newest state of its
 * objects, later than that of the list; the watch that follows reports such a change again.
 */
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type LargeKind, type LargeObject, largeCluster } from './large-cluster.ts';

/** Before the first change. */
const RESOURCE_VERSION = 9_000_000;

const kinds = new Map(largeCluster.map((kind) => [kind.path, kind]));

interface Change {
  readonly path: string;
  readonly line: string;
}

export class LargeApiServer implements AsyncDisposable {
  readonly #server: Server;
  readonly #changes: Change[] = [];
  /** Objects that were changed, by path, then by their number. */
  readonly #changed = new Map<string, Map<number, LargeObject>>();
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
      else started.#list(kinds.get(pathname), searchParams, response);
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

  /** The object of a kind with this number as it is at present. */
  object({ path, object }: LargeKind, number: number): LargeObject {
    return this.#changed.get(path)?.get(number) ?? object(number);
  }

  /** Tells all watches of its kind that an object was changed. */
  change({ path, kind, apiVersion }: LargeKind, number: number, object: LargeObject): void {
    const ofKind = this.#changed.get(path) ?? new Map<number, LargeObject>();
    this.#changed.set(path, ofKind.set(number, object));
    const { metadata } = object;
    const resourceVersion = `${this.#version + 1}`;
    const changed = { apiVersion, kind, ...object, metadata: { ...metadata, resourceVersion } };
    const line = `${JSON.stringify({ type: 'MODIFIED', object: changed })}\n`;
    this.#changes.push({ path, line });
    for (const watch of this.#watches) if (watch.path === path) watch.response.write(line);
  }

  get #version(): number {
    return RESOURCE_VERSION + this.#changes.length;
  }

  #list(kind: LargeKind | undefined, query: URLSearchParams, response: ServerResponse): void {
    if (kind === undefined) {
      response.writeHead(404).end('{}');
      return;
    }
    const { count, apiVersion } = kind;
    const [from = 0, version = this.#version] = (query.get('continue')?.split('-') ?? []).map(
      Number,
    );
    const end = Math.min(count, from + Number(query.get('limit') ?? count));
    const items = Array.from({ length: end - from }, (_, at) => this.object(kind, from + at));
    const metadata = {
      resourceVersion: `${version}`,
      continue: end < count ? `${end}-${version}` : '',
    };
    response.end(JSON.stringify({ apiVersion, kind: `${kind.kind}List`, metadata, items }));
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
