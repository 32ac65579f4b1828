import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import * as http from 'node:http';
import * as https from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '#infra/clock/system.ts';
import { makeCertificate } from '#test/support/certificates.ts';
import { FakeCluster } from './fake-cluster.ts';

export interface FakeApiServer extends AsyncDisposable {
  /** State and faults. */
  readonly cluster: FakeCluster;
  /** A kubeconfig file with address and credentials. */
  readonly kubeConfig: string;
  /** The certificate authority that the kubeconfig names. */
  readonly authority: string;
  /** Number of connections so far. */
  readonly connections: number;
  /** Requests without this token are answered with 401; undefined: all are accepted. */
  token: string | undefined;
  /** Writes the kubeconfig file, with another token for example. */
  writeKubeConfig(token?: string): void;
  /** Stops listening and breaks all connections; `start` listens again at the same port. */
  stop(): Promise<void>;
  start(): Promise<void>;
}

/** Serves a `FakeCluster` at a port of the loopback interface, over HTTP or over TLS. */
export async function startFakeApiServer(
  protocol: 'http' | 'https' = 'http',
): Promise<FakeApiServer> {
  const folder = mkdtempSync(join(tmpdir(), 'ksr-api-server-'));
  const cluster = new FakeCluster(systemClock);
  const kubeConfig = join(folder, 'kubeconfig');
  const authority = join(folder, 'authority.crt');
  let connections = 0;
  let port = 0;
  let server: http.Server;

  const answer = async (request: http.IncomingMessage, response: http.ServerResponse) => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://localhost');
    if (fake.token !== undefined && request.headers.authorization !== `Bearer ${fake.token}`) {
      response.writeHead(401).end(JSON.stringify({ kind: 'Status', message: 'Unauthorized' }));
      return;
    }
    const closed = new AbortController();
    response.once('close', () => closed.abort(new Error('closed')));
    try {
      const { status, retryAfter, body } = await cluster.send(
        {
          method: request.method === 'PATCH' ? 'PATCH' : 'GET',
          path: pathname,
          query: Object.fromEntries(searchParams),
          body: Buffer.concat(await request.toArray()).toString(),
        },
        closed.signal,
      );
      response.writeHead(status, retryAfter === undefined ? {} : { 'retry-after': retryAfter });
      response.flushHeaders();
      for await (const piece of body)
        if (!response.write(piece)) await new Promise((resolve) => response.once('drain', resolve));
      response.end();
    } catch {
      // Also at the end of the body: a chunked response without its last chunk is an error.
      response.destroy();
    }
  };

  const fake: FakeApiServer = {
    cluster,
    kubeConfig,
    authority,
    get connections() {
      return connections;
    },
    token: undefined,
    writeKubeConfig(token) {
      const user = token === undefined ? {} : { token };
      const certificate = {
        ...(protocol === 'http' && { 'insecure-skip-tls-verify': true }),
        ...(protocol === 'https' && { 'certificate-authority': authority }),
      };
      const config = {
        'current-context': 'fake',
        clusters: [
          {
            name: 'fake',
            cluster: { server: `${protocol}://localhost:${port}`, ...certificate },
          },
        ],
        users: [{ name: 'fake', user }],
        contexts: [{ name: 'fake', context: { cluster: 'fake', user: 'fake' } }],
      };
      writeFileSync(kubeConfig, JSON.stringify(config));
    },
    start() {
      server =
        protocol === 'http'
          ? http.createServer(answer)
          : https.createServer(
              {
                key: readFileSync(join(folder, 'server.key')),
                cert: readFileSync(join(folder, 'server.crt')),
              },
              answer,
            );
      server.on('connection', () => connections++);
      return new Promise((resolve, reject) => {
        server.once('error', reject);
        server.listen(port, 'localhost', () => {
          port = (server.address() as AddressInfo).port;
          resolve();
        });
      });
    },
    stop() {
      const stopped = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      return stopped;
    },
    async [Symbol.asyncDispose]() {
      await fake.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };

  if (protocol === 'https') {
    makeCertificate(folder, 'authority', 'authority');
    makeCertificate(folder, 'server', 'authority');
  }
  await fake.start();
  fake.writeKubeConfig();
  return fake;
}
