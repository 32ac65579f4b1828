import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { request as secureRequest } from 'node:https';
import { connect } from 'node:net';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { after, before, beforeEach, describe, it } from 'node:test';
import { connect as secureConnect } from 'node:tls';
import Value from 'typebox/value';
import { ManualClock } from '#infra/clock/manual.ts';
import { systemClock } from '#infra/clock/system.ts';
import { FailedAttempts } from '#infra/http/authentication/failed-attempts.ts';
import { HttpConfigError } from '#infra/http/certificate.ts';
import { type HttpConfig, httpSchema } from '#infra/http/config.ts';
import { json, type Route } from '#infra/http/route.ts';
import { type HttpServer, startHttpServer } from '#infra/http/server.ts';
import { type Logger, silentLogger } from '#infra/log/log.ts';
import { makeCertificate } from '#test/support/certificates.ts';
import { withoutOpenssl } from '#test/support/requirements.ts';
import { temporaryFolder } from '#test/support/temporary-folder.ts';
import { until } from '#test/support/wait.ts';
import { basic, call } from './authentication/client.ts';

const folder = temporaryFolder('guard');

function config(values: Partial<HttpConfig>): HttpConfig {
  const own = { endpoint: '127.0.0.1:0', 'local-socket': join(folder, 'agent.sock') };
  return Value.Default(httpSchema, { ...own, ...values }) as HttpConfig;
}

let handled = 0;
let current = 0;
/** Handlers wait for it. */
let gate: Promise<void> = Promise.resolve();
let most = 0;
/** Probes in this turn of the event loop. */
let probes = 0;
let mostProbes = 0;
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
  {
    ...route,
    path: '/liveness',
    isProbe: true,
    handle: () => {
      mostProbes = Math.max(mostProbes, ++probes);
      return json({});
    },
  },
  { ...route, method: 'POST', path: '/accept', handle: ({ body }) => json(body) },
  { ...route, method: 'POST', path: '/change', mutating: true, handle: () => json({}) },
  { ...route, path: '/private', permission: 'flows', handle: () => json({}) },
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

describe('a route with private data', () => {
  const statusAt = async (values: Partial<HttpConfig>, headers = {}): Promise<unknown> => {
    const server = await startHttpServer(config(values), routes, systemClock, silentLogger);
    try {
      const socketPath = join(folder, 'agent.sock');
      return [
        await statusOf(request, { port: server.port, path: '/private', headers }),
        await statusOf(request, { socketPath, path: '/private' }),
      ];
    } finally {
      await server.close();
    }
  };

  it('is served where pods cannot ask, or clients identify themselves', async () => {
    assert.deepEqual(await statusAt({}), [200, 200]);
    assert.deepEqual(await statusAt({ endpoint: '0.0.0.0:0' }), [403, 200]);
    const users = { endpoint: '0.0.0.0:0', 'client-basic-auth': ['user:password'] };
    assert.deepEqual(await statusAt(users), [401, 200]);
    assert.deepEqual(await statusAt(users, basic('user', 'password')), [200, 200]);
  });
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

  it('make no error with a stack each when there are too many', async () => {
    const { prepareStackTrace, stackTraceLimit } = Error;
    let stacks = 0;
    Error.prepareStackTrace = (error) => {
      stacks++;
      return String(error);
    };
    try {
      await pipelined(1_000);
    } finally {
      Error.prepareStackTrace = prepareStackTrace;
    }
    assert.ok(stacks < 100, `${stacks} stacks`);
    assert.equal(Error.stackTraceLimit, stackTraceLimit);
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

  it('give the event loop a turn after a few, also when all are probes', async () => {
    let isEnded = false;
    const count = () => {
      probes = 0;
      if (!isEnded) setImmediate(count);
    };
    count();
    mostProbes = 0;
    const clients = Array.from({ length: 20 }, async () => {
      const socket = connect(server.port, '127.0.0.1');
      const get = 'GET /liveness HTTP/1.1\r\nHost: a\r\n';
      socket.write(`${`${get}\r\n`.repeat(49)}${get}Connection: close\r\n\r\n`);
      let text = '';
      for await (const piece of socket) text += piece;
      return text.match(/HTTP\/1.1 200/g)?.length;
    });
    for (const answers of await Promise.all(clients)) assert.equal(answers, 50);
    isEnded = true;
    assert.ok(mostProbes <= 4, `${mostProbes} in a turn`);
  });

  it('must not name a public host', async () => {
    const options = { port: server.port, path: '/liveness', headers: { host: 'evil.example' } };
    assert.equal(await statusOf(request, options), 421);
    assert.equal(handled, 0);
  });
});

describe('replies that wait for events', () => {
  it('keep no other request waiting', async (t) => {
    const events: Route = {
      ...route,
      path: '/events',
      isStream: true,
      handle: () => {
        const body = new Readable({ read: () => undefined });
        body.push(':\n\n');
        return { status: 200, body, contentType: 'text/event-stream' };
      },
    };
    const server = await startHttpServer(
      config({}),
      [...routes, events],
      systemClock,
      silentLogger,
    );
    t.after(() => server.close());
    const signal = AbortSignal.timeout(5_000);
    const target = { host: '127.0.0.1', port: server.port, signal };
    for (const path of [...Array<string>(5).fill('/events'), '/state'])
      assert.equal(await statusOf(request, { ...target, path }), 200);
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

describe('an endpoint with a rate limit', () => {
  it('refuses requests beyond it, with the headers of the original, and never probes', async () => {
    const values = { 'rate-limiter': { limit: 0.001, burst: 2 } };
    const server = await startHttpServer(config(values), routes, systemClock, silentLogger);
    const get = (path: string) => call({ port: server.port, path });
    const statuses = [];
    for (let n = 0; n < 4; n++) statuses.push((await get('/state')).status);
    assert.deepEqual(statuses, [200, 200, 429, 429]);
    const { headers } = await get('/state');
    assert.equal(headers['x-ligato-ratelimiter-limit'], '0.001');
    assert.equal(headers['x-ligato-ratelimiter-maxburst'], '2');
    assert.match(headers['x-ligato-ratelimiter-waitdelay'] as string, /^[0-9]+ms$/);
    assert.equal((await get('/liveness')).status, 200);
    await server.close();
  });
});

describe('wrong passwords', () => {
  it('are answered late when they are many, and right ones at once', async () => {
    const values = { 'client-basic-auth': ['u:p'] };
    const server = await startHttpServer(config(values), routes, systemClock, silentLogger);
    const attempt = async (password: string) => {
      const start = performance.now();
      const { status } = await call({
        port: server.port,
        path: '/state',
        headers: basic('u', password),
      });
      return { status, ms: performance.now() - start };
    };
    for (let n = 0; n < 10; n++) assert.equal((await attempt('x')).status, 401);
    const wrong = attempt('x');
    const right = await attempt('p');
    assert.equal(right.status, 200);
    assert.ok((await wrong).ms >= 900, `${(await wrong).ms} ms`);
    await server.close();
  });

  it('are answered one a second for each address, also when many are sent at once', async () => {
    const clock = new ManualClock();
    const failures = new FailedAttempts(clock);
    for (let n = 0; n < 10; n++) await failures.delay('10.1.1.1');
    let answered = 0;
    for (let n = 0; n < 4; n++) {
      assert.equal(failures.isBlocked('10.1.1.1'), false);
      void failures.delay('10.1.1.1').then(() => answered++);
    }
    assert.equal(failures.isBlocked('10.1.1.1'), true);
    assert.equal(failures.isBlocked('10.1.1.2'), false);
    for (let second = 1; second <= 4; second++) {
      await clock.advance(1000);
      assert.equal(answered, second);
    }
    assert.equal(failures.isBlocked('10.1.1.1'), false);
  });

  it('of an address with many that wait are refused unseen, and right ones, too', async () => {
    const values = { 'client-basic-auth': ['u:p'] };
    const server = await startHttpServer(config(values), routes, systemClock, silentLogger);
    const attempt = async (password: string) => {
      const headers = basic('u', password);
      return (await call({ port: server.port, path: '/state', headers })).status;
    };
    for (let n = 0; n < 10; n++) await attempt('x');
    const all = await Promise.all(Array.from({ length: 12 }, () => attempt('x')));
    assert.ok(all.filter((status) => status === 401).length <= 5, all.join(' '));
    assert.ok(all.includes(429));
    assert.equal(await attempt('p'), 200);
    await server.close();
  });
});

describe('clients that send their bodies slowly', () => {
  it('do not keep others from the handlers', async () => {
    const server = await startHttpServer(config({}), routes, systemClock, silentLogger);
    const sockets = Array.from({ length: 20 }, () => {
      const socket = connect(server.port, '127.0.0.1');
      socket.on('error', () => undefined);
      socket.write(
        'POST /accept HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{',
      );
      return socket;
    });
    await until('they are connected', () => sockets.every(({ bytesWritten }) => bytesWritten > 0));
    for (let n = 0; n < 10; n++)
      assert.equal((await call({ port: server.port, path: '/state' })).status, 200);
    for (const socket of sockets) socket.destroy();
    const body = '{"a":1}';
    const headers = { 'content-type': 'application/json' };
    const { text } = await call({
      port: server.port,
      path: '/accept',
      method: 'POST',
      headers,
      body,
    });
    assert.deepEqual(JSON.parse(text), { a: 1 });
    await server.close();
  });

  it('are refused on routes that are not open, before their body', async () => {
    const server = await startHttpServer(config({}), routes, systemClock, silentLogger);
    const socket = connect(server.port, '127.0.0.1');
    socket.write('POST /change HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\n');
    const [reply] = await once(socket, 'data');
    assert.match(String(reply), /^HTTP\/1.1 403 /);
    socket.destroy();
    await server.close();
  });
});

describe('bodies', () => {
  let server: HttpServer;
  before(async () => {
    server = await startHttpServer(config({}), routes, systemClock, silentLogger);
  });
  after(() => server.close());
  const JSON_TYPE = { 'content-type': 'application/json' };
  const post = (body: string, headers = {}) =>
    call({
      port: server.port,
      path: '/accept',
      method: 'POST',
      headers: { ...JSON_TYPE, ...headers },
      body,
    });

  it('are refused when they have more brackets than documents have', async () => {
    const levels = (count: number) => '['.repeat(count) + ']'.repeat(count);
    assert.equal((await post(levels(100))).status, 200);
    for (const wrong of [levels(101), `[${'{},'.repeat(50_000)}{}]`]) {
      const { status, text } = await post(wrong);
      assert.deepEqual([status, /too many or too deep/.test(text)], [400, true]);
    }
    const texts = [`"${'['.repeat(500)}"`, `{"a\\\\":"\\"${'{'.repeat(500)}"}`];
    for (const text of texts) assert.equal((await post(text)).status, 200, text.slice(0, 20));
  });

  it('close their connection, so that nothing after them is read', async () => {
    assert.equal((await post('{}')).headers.connection, 'close');
  });

  // The last one: after it, connections that send much at once are closed for a second.
  it('need a length: each chunk would take as long as a request', async () => {
    const chunked = await post('{}', { 'transfer-encoding': 'chunked' });
    assert.equal(chunked.status, 411);
    assert.deepEqual(JSON.parse(chunked.text), { Error: 'a body has to have a Content-Length' });
    assert.equal((await post('{}')).status, 200);
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

  it('does not start with a file of authorities that has no certificate', async () => {
    for (const name of ['server.key', 'endpoint-guard.empty']) {
      writeFileSync(file('endpoint-guard.empty'), '');
      const values = {
        'server-cert-file': file('server.crt'),
        'server-key-file': file('server.key'),
        'client-cert-files': [file('ca.crt'), file(name)],
      };
      await assert.rejects(startHttpServer(config(values), routes, systemClock, silentLogger), {
        code: 'CV_HTTP_CONFIG',
        message: /has no certificate/,
      });
    }
  });

  it('refuses clients without a certificate of the authority', async () => {
    assert.equal(await status('/state'), 401);
    assert.equal(await status('/state', 'other'), 401);
    assert.equal(await status('/state', 'client'), 200);
  });

  /** Status of `/state` in a TLS session, and the session for the next connection. */
  async function inSession(session: Buffer | undefined, name?: string) {
    const socket = secureConnect({
      port: server.port,
      servername: 'localhost',
      ca: readFileSync(file('ca.crt')),
      ...(session && { session }),
      ...(name && {
        cert: readFileSync(file(`${name}.crt`)),
        key: readFileSync(file(`${name}.key`)),
      }),
    });
    let next: Buffer | undefined;
    socket.on('session', (given) => {
      next = given;
    });
    socket.write('GET /state HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n');
    const isResumed = await once(socket, 'secureConnect').then(() => socket.isSessionReused());
    let text = '';
    for await (const piece of socket) text += piece;
    return { status: Number(text.split(' ')[1]), isResumed, next };
  }

  it('refuses clients that resume a session without a certificate', async () => {
    const first = await inSession(undefined);
    assert.deepEqual([first.status, first.isResumed], [401, false]);
    const second = await inSession(first.next);
    assert.deepEqual([second.status, second.isResumed], [401, true]);
    const known = await inSession(undefined, 'client');
    assert.equal(known.status, 200);
    const again = await inSession(known.next, 'client');
    assert.deepEqual([again.status, again.isResumed], [200, true]);
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
