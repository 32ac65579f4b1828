import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync } from 'node:fs';
import { request } from 'node:http';
import { request as secureRequest } from 'node:https';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, beforeEach, describe, it } from 'node:test';
import Value from 'typebox/value';
import { systemClock } from '#infra/clock/system.ts';
import { HttpConfigError } from '#infra/http/certificate.ts';
import { type HttpConfig, httpSchema } from '#infra/http/config.ts';
import { json, type Route } from '#infra/http/route.ts';
import { type HttpServer, startHttpServer } from '#infra/http/server.ts';
import { type Logger, silentLogger } from '#infra/log/log.ts';
import { makeCertificate } from '#test/support/certificates.ts';
import { withoutOpenssl } from '#test/support/requirements.ts';
import { until } from '#test/support/wait.ts';

const folder = mkdtempSync(join(tmpdir(), 'guard-'));

function config(values: Partial<HttpConfig>): HttpConfig {
  const own = { endpoint: '127.0.0.1:0', 'local-socket': join(folder, 'agent.sock') };
  return Value.Default(httpSchema, { ...own, ...values }) as HttpConfig;
}

let handled = 0;
let current = 0;
/** Handlers wait for it. */
let gate: Promise<void> = Promise.resolve();
let most = 0;
const route = { method: 'GET', mutating: false, summary: '' } as const;
const routes: Route[] = [
  {
    ...route,
    path: '/state',
    handle: async () => {
      most = Math.max(most, ++current);
      await gate;
      current--;
      return json({ n: handled++ });
    },
  },
  { ...route, path: '/liveness', isProbe: true, handle: () => json({}) },
];

function statusOf(make: typeof request, options: object): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const sent = make({ ...options, agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode);
    });
    sent.on('error', reject);
    sent.end();
  });
}

beforeEach(() => {
  handled = 0;
  most = 0;
});

describe('requests that share a connection', () => {
  let server: HttpServer;
  before(async () => {
    server = await startHttpServer(config({}), routes, systemClock, silentLogger);
  });
  after(() => server.close());

  async function pipelined(count: number): Promise<string> {
    const socket = connect(server.port, '127.0.0.1');
    let text = '';
    socket.on('data', (data) => {
      text += data;
    });
    socket.on('error', () => undefined);
    socket.write('GET /state HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(count - 1));
    socket.write('GET /state HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
    // A reset is an error event before it.
    await new Promise((resolve) => socket.once('close', resolve));
    return text;
  }

  it('are handled one after the other, in order', async () => {
    const text = await pipelined(64);
    const numbers = [...text.matchAll(/"n": (\d+)/g)].map(([, n]) => Number(n));
    assert.deepEqual(
      numbers,
      Array.from({ length: 64 }, (_, n) => n),
    );
    assert.equal(most, 1);
  });

  it('end with the connection when there are too many', async () => {
    await pipelined(2_000);
    assert.ok(handled <= 1, `${handled} requests were handled`);
    assert.equal(await statusOf(request, { port: server.port, path: '/state' }), 200);
  });

  it('wait for others, except probes', async () => {
    const { promise, resolve: open } = Promise.withResolvers<void>();
    gate = promise;
    const path = '/state';
    const all = Array.from({ length: 20 }, () => statusOf(request, { port: server.port, path }));
    await until('four requests are handled', () => current === 4);
    assert.equal(await statusOf(request, { port: server.port, path: '/liveness' }), 200);
    assert.equal(handled, 0);
    open();
    for (const status of await Promise.all(all)) assert.equal(status, 200);
    assert.equal(most, 4);
  });

  it('are refused when many wait', async () => {
    const { promise, resolve: open } = Promise.withResolvers<void>();
    gate = promise;
    const path = '/state';
    let refused = 0;
    const all = Array.from({ length: 60 }, async () => {
      const status = await statusOf(request, { port: server.port, path });
      if (status === 503) refused++;
      return status;
    });
    await until('all but 4 handled and 32 waiting requests are refused', () => refused === 24);
    open();
    const statuses = await Promise.all(all);
    assert.equal(statuses.filter((status) => status === 200).length, 36);
  });

  it('must not name a public host', async () => {
    const options = { port: server.port, path: '/liveness', headers: { host: 'evil.example' } };
    assert.equal(await statusOf(request, options), 421);
    assert.equal(handled, 0);
  });
});

describe('an endpoint with credentials', () => {
  it('serves probes without them, and logs one line for many refused requests', async () => {
    const lines: object[] = [];
    const log: Logger = { ...silentLogger, warn: (fields: object) => void lines.push(fields) };
    const values = { 'client-basic-auth': ['u:p'] };
    const server = await startHttpServer(config(values), routes, systemClock, log);
    const options = { port: server.port, path: '/state' };
    for (let n = 0; n < 5; n++) assert.equal(await statusOf(request, options), 401);
    assert.equal(lines.length, 1);
    assert.equal(await statusOf(request, { ...options, path: '/liveness' }), 200);
    const named = { ...options, auth: 'u:p', headers: { host: 'node1.example' } };
    assert.equal(await statusOf(request, named), 200);
    await server.close();
  });
});

describe('an endpoint with client certificates', { skip: withoutOpenssl() }, () => {
  const file = (name: string) => join(folder, name);
  let server: HttpServer;
  before(async () => {
    for (const name of ['ca', 'server', 'client']) makeCertificate(folder, name, 'ca');
    makeCertificate(folder, 'other', 'other');
    const values = {
      'server-cert-file': file('server.crt'),
      'server-key-file': file('server.key'),
      'client-cert-files': [file('ca.crt')],
    };
    server = await startHttpServer(config(values), routes, systemClock, silentLogger);
  });
  after(() => server?.close());

  function status(path: string, name?: string): Promise<number | undefined> {
    return statusOf(secureRequest as typeof request, {
      port: server.port,
      path,
      ca: readFileSync(file('ca.crt')),
      servername: 'localhost',
      ...(name && {
        cert: readFileSync(file(`${name}.crt`)),
        key: readFileSync(file(`${name}.key`)),
      }),
    });
  }

  it('refuses clients without a certificate of the authority', async () => {
    assert.equal(await status('/state'), 401);
    assert.equal(await status('/state', 'other'), 401);
    assert.equal(await status('/state', 'client'), 200);
  });

  it('serves probes without a certificate', async () => {
    assert.equal(await status('/liveness'), 200);
  });

  it('is not served without HTTPS', async () => {
    const values = { 'client-cert-files': [file('ca.crt')] };
    await assert.rejects(
      startHttpServer(config(values), routes, systemClock, silentLogger),
      HttpConfigError,
    );
  });
});
