import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders, request } from 'node:http';
import { type AddressInfo, connect, createServer as createSocket, Server } from 'node:net';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterEach, describe, it } from 'node:test';
import Value from 'typebox/value';
import { systemClock } from '#infra/clock/system.ts';
import { HttpConfigError } from '#infra/http/certificate.ts';
import { type HttpConfig, httpSchema, parseEndpoint } from '#infra/http/config.ts';
import { HttpListenError } from '#infra/http/local-socket.ts';
import { BusyError, integerArgument, json, type Route } from '#infra/http/route.ts';
import { type HttpServer, startHttpServer } from '#infra/http/server.ts';
import { silentLogger } from '#infra/log/log.ts';
import { temporaryFolder } from '#test/support/temporary-folder.ts';

/** State of a socket in /proc/net/tcp. */
const LISTENING = '0A';

const dir = temporaryFolder('http');
const socket = join(dir, 'run', 'agent.sock');
const routes: Route[] = [
  {
    method: 'GET',
    path: '/echo/:name',
    mutating: false,
    summary: '',
    handle: (r) => json({ query: r.query, params: r.params, n: integerArgument(r, 'n') ?? null }),
  },
  {
    method: 'POST',
    path: '/change',
    mutating: true,
    summary: '',
    handle: (r) => json({ body: r.body }),
  },
  {
    method: 'GET',
    path: '/broken',
    mutating: false,
    summary: '',
    handle: () => {
      throw new Error('no');
    },
  },
  {
    method: 'GET',
    path: '/busy',
    mutating: false,
    summary: '',
    handle: () => {
      throw new BusyError('too many ask for this');
    },
  },
];

const config = (values: Partial<HttpConfig> = {}): HttpConfig =>
  Value.Default(httpSchema, {
    endpoint: '127.0.0.1:0',
    'local-socket': socket,
    ...values,
  }) as HttpConfig;

interface Answer {
  status: number | undefined;
  headers: IncomingHttpHeaders;
  body: string;
}

function call(
  target: object,
  method: string,
  path: string,
  body?: object | string,
  type: string | undefined = body === undefined ? undefined : 'application/json',
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const text = typeof body === 'object' ? JSON.stringify(body) : body;
    const headers = type === undefined ? {} : { 'content-type': type };
    const req = request({ ...target, method, path, headers }, (res) => {
      let answer = '';
      res.on('data', (chunk) => {
        answer += chunk;
      });
      res.on('end', () => resolve({ status: res.statusCode, headers: res.headers, body: answer }));
    });
    req.on('error', reject);
    req.end(text);
  });
}

/** Connections to a port of the loopback address that the kernel has made and no program has accepted. */
function waitingAt(port: number): number {
  const at = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  const counts = readFileSync('/proc/net/tcp', 'utf8')
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter(([, local, , state]) => local?.endsWith(at) && state === LISTENING)
    // Lengths of the queues for sending and receiving: the latter are connections here.
    .map(([, , , , queues]) => Number.parseInt(queues!.split(':')[1]!, 16));
  return Math.max(...counts);
}

describe('REST server', () => {
  const servers: HttpServer[] = [];
  const close = () => Promise.all(servers.splice(0).map((server) => server.close()));
  const start = async (values: Partial<HttpConfig> = {}) => {
    const server = await startHttpServer(config(values), routes, systemClock, silentLogger);
    servers.push(server);
    return { host: '127.0.0.1', port: server.port };
  };
  afterEach(close);

  it('reads nothing of a long reply for HEAD', async () => {
    let pieces = 0;
    const body = Readable.from(
      (function* () {
        while (pieces < 1_000) yield `${pieces++}`;
      })(),
    );
    const ended = once(body, 'close');
    const contentType = 'text/plain; charset=utf-8';
    const long: Route = {
      ...routes[0]!,
      path: '/long',
      handle: () => ({ status: 200, body, contentType }),
    };
    const server = await startHttpServer(config(), [long], systemClock, silentLogger);
    servers.push(server);
    const reply = await call({ port: server.port }, 'HEAD', '/long');
    await ended;
    assert.deepEqual(
      [reply.status, reply.headers['content-type'], reply.body, pieces],
      [200, contentType, '', 0],
    );
  });

  it('answers on the endpoint and on the local socket', async () => {
    const target = await start();
    const { status, body } = await call(target, 'GET', '/echo/x?a=1&a=2&n=3');
    assert.equal(status, 200);
    assert.deepEqual(JSON.parse(body), {
      query: { a: ['1', '2'], n: ['3'] },
      params: { name: 'x' },
      n: 3,
    });
    assert.match(body, /\n {2}"params"/, 'indented');
    const local = await call({ socketPath: socket }, 'GET', '/echo/y');
    assert.equal(local.status, 200);
    assert.equal(statSync(socket).mode & 0o777, 0o600);
    await close();
    assert.equal(statSync(socket, { throwIfNoEntry: false }), undefined);
  });

  it('replaces a stale socket, but neither a file nor a socket in use', async () => {
    const path = join(dir, 'own.sock');
    const values = { 'local-socket': path };
    writeFileSync(path, 'precious');
    await assert.rejects(start(values), HttpListenError);
    assert.equal(readFileSync(path, 'utf8'), 'precious');

    const used = join(dir, 'used.sock');
    const other = createSocket().listen(used);
    await once(other, 'listening');
    await assert.rejects(start({ 'local-socket': used }), /used\.sock: another process listens/);
    // The server does not remove a socket that was renamed.
    renameSync(used, join(dir, 'left.sock'));
    other.close();
    await start({ 'local-socket': join(dir, 'left.sock') });
    assert.equal(
      (await call({ socketPath: join(dir, 'left.sock') }, 'GET', '/echo/y')).status,
      200,
    );
  });

  it('survives a connection that cannot be accepted, for want of files', async (t) => {
    const started = new Set<Server>();
    const { listen } = Server.prototype;
    t.mock.method(Server.prototype, 'listen', function (this: Server, ...args: unknown[]) {
      started.add(this);
      return Reflect.apply(listen, this, args);
    });
    const target = await start();
    assert.equal(started.size, 2);
    // as Node.js reports EMFILE of accept()
    for (const server of started) server.emit('error', new Error('accept EMFILE'));
    assert.equal((await call(target, 'GET', '/echo/x')).status, 200);
    assert.equal((await call({ socketPath: socket }, 'GET', '/echo/x')).status, 200);
  });

  for (const endpoint of ['127.0.0.1:0', '0.0.0.0:0'])
    it(`lets a thousand connections that come at once wait at ${endpoint}`, async (t) => {
      const allowed = Number(readFileSync('/proc/sys/net/core/somaxconn', 'utf8'));
      if (allowed < 2_000) return t.skip(`somaxconn is ${allowed}`);
      const { port } = await start({ endpoint });
      const clients = Array.from({ length: 1_000 }, () =>
        connect(port, '127.0.0.1').on('error', () => undefined),
      );
      // They connect in this turn of the event loop, and the server accepts none of them before the next.
      await new Promise<void>((resolve) => process.nextTick(resolve));
      let waiting = waitingAt(port);
      const pause = new Int32Array(new SharedArrayBuffer(4));
      for (let n = 0; n < 100 && waiting < clients.length; n++) {
        // Where the kernel has put its part off.
        Atomics.wait(pause, 0, 0, 20);
        waiting = waitingAt(port);
      }
      for (const client of clients) client.destroy();
      // Those beyond the queue are dropped, which delays their clients by a second.
      assert.equal(waiting, clients.length);
      return undefined;
    });

  it('reports that its port is in use', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as AddressInfo;
    const endpoint = `127.0.0.1:${port}`;
    await assert.rejects(start({ endpoint }), (error: Error) => {
      assert.ok(error instanceof HttpListenError);
      return error.message.startsWith(`${endpoint}: listen EADDRINUSE`);
    });
    other.close();
  });

  it('listens at the loopback address apart from the others, and shares the port with no other server', async () => {
    const { port } = await start({ endpoint: '0.0.0.0:0' });
    const endpoint = `0.0.0.0:${port}`;
    for (const host of ['127.0.0.1', '127.0.0.2'])
      assert.equal((await call({ host, port }, 'GET', '/echo/y')).status, 200);
    if (process.platform === 'linux') {
      const listener = `:${port.toString(16).toUpperCase().padStart(4, '0')} 00000000:0000 0A`;
      assert.equal(readFileSync('/proc/net/tcp', 'utf8').split(listener).length, 3);
    }
    await assert.rejects(start({ endpoint }), HttpListenError);
    await close();
    await start({ endpoint });
  });

  it('serves HTTPS only with certificate and key', async () => {
    const file = join(dir, 'cert.pem');
    writeFileSync(file, 'no certificate');
    const [cert, key] = ['server-cert-file', 'server-key-file'];
    await assert.rejects(start({ [cert]: file }), /must both be set/);
    await assert.rejects(start({ [cert]: '/nowhere', [key]: file }), /\/nowhere: cannot be read/);
    await assert.rejects(start({ [cert]: file, [key]: file }), /invalid certificate or key/);
  });

  it('serves mutating routes on the local socket only', async () => {
    const target = await start();
    const refused = await call(target, 'POST', '/change', { a: 1 });
    assert.equal(refused.status, 403);
    assert.match(refused.body, /agent\.sock/);
    const done = await call({ socketPath: socket }, 'POST', '/change', { a: 1 });
    assert.deepEqual(JSON.parse(done.body), { body: { a: 1 } });
  });

  it('ignores repeated slashes, and protects a mutating route with them, too', async () => {
    const { port } = await start();
    const { status, body } = await call({ port }, 'GET', '//echo//x?n=7&q=a?b');
    assert.deepEqual(
      [status, JSON.parse(body)],
      [200, { query: { n: ['7'], q: ['a?b'] }, params: { name: 'x' }, n: 7 }],
    );
    assert.equal((await call({ port }, 'POST', '//change', {})).status, 403);
    assert.equal((await call({ port }, 'GET', '//change')).status, 405);
    assert.equal((await call({ port }, 'GET', '//')).status, 200);
  });

  it('opens them only with credentials', async () => {
    await assert.rejects(start({ 'open-mutating-routes': true }), HttpConfigError);
    const target = await start({ 'open-mutating-routes': true, 'client-basic-auth': ['u:p'] });
    assert.equal((await call(target, 'POST', '/change', {})).status, 401);
    assert.equal((await call({ ...target, auth: 'u:q' }, 'POST', '/change', {})).status, 401);
    assert.equal((await call({ ...target, auth: 'u:p' }, 'POST', '/change', {})).status, 200);
  });

  it('describes errors', async () => {
    const target = await start();
    const bad = await call(target, 'GET', '/echo/x?n=-1');
    assert.equal(bad.status, 400);
    assert.match(bad.body, /argument n=\\"-1\\" has to be a whole number/);
    const broken = await call(target, 'GET', '/broken');
    assert.deepEqual([broken.status, JSON.parse(broken.body)], [500, { Error: 'no' }]);
    const none = await call(target, 'GET', '/none?x');
    assert.deepEqual([none.status, JSON.parse(none.body)], [404, { Error: 'no route GET /none' }]);
    for (const name of ['__proto__', 'constructor', 'toString'])
      assert.equal((await call(target, 'GET', `/echo/x?${name}=1`)).status, 200, name);
    await assert.rejects(start({ endpoint: 'nonsense' }), HttpConfigError);
  });

  it('says when a busy server can be asked again', async () => {
    const target = await start();
    const busy = await call(target, 'GET', '/busy');
    assert.deepEqual([busy.status, busy.headers['retry-after']], [503, '1']);
    assert.deepEqual(JSON.parse(busy.body), { Error: 'too many ask for this' });
    const broken = await call(target, 'GET', '/broken');
    assert.equal(broken.headers['retry-after'], undefined);
  });

  const refused = [
    ['NONSENSE\r\n\r\n', 400, /^the request is not valid HTTP: Parse Error: /],
    [
      `GET / HTTP/1.1\r\nX: ${'x'.repeat(17_000)}\r\n\r\n`,
      431,
      /^the head of the request has more/,
    ],
  ] as const;
  for (const where of ['endpoint', 'local socket'])
    for (const [bytes, status, text] of refused)
      it(`describes why it refuses bytes on the ${where} with ${status}`, async () => {
        const { port } = await start();
        const client = where === 'endpoint' ? connect(port, '127.0.0.1') : connect(socket);
        client.write(bytes);
        const reply = (await client.setEncoding('utf8').toArray()).join('');
        const [head = '', body = ''] = reply.split('\r\n\r\n');
        assert.match(head, new RegExp(`^HTTP/1.1 ${status} .*\r\nContent-Type: application/json`));
        assert.match((JSON.parse(body) as { Error: string }).Error, text);
      });

  it('accepts names as long as those of pods, and describes errors of longer or invalid ones', async () => {
    const target = await start();
    const long = await call(target, 'GET', `/echo/${'%C3%A4'.repeat(42)}${'a'.repeat(211)}`);
    assert.equal(long.status, 200, long.body);
    const errors: Readonly<Record<string, number>> = {
      '/echo/%ZZ': 400,
      [`/echo/${'a'.repeat(2_000)}`]: 414,
    };
    for (const [path, status] of Object.entries(errors)) {
      const answer = await call(target, 'GET', path);
      assert.equal(answer.status, status, path);
      assert.deepEqual(Object.keys(JSON.parse(answer.body) as object), ['Error'], path);
      assert.equal(answer.headers['x-content-type-options'], 'nosniff');
    }
  });

  it('answers another method on a known path with 405 and the methods that it has', async () => {
    const target = await start({ 'client-basic-auth': ['u:p'] });
    const known = { ...target, auth: 'u:p' };
    for (const [method, path, allow] of [
      ['POST', '/echo/x', 'GET, HEAD'],
      ['DELETE', '/echo/x?n=1', 'GET, HEAD'],
      ['PUT', '/echo/', 'GET, HEAD'],
      ['PUT', '/%65cho/x%2Fy', 'GET, HEAD'],
      ['PUT', 'http://127.0.0.1/echo/x', 'GET, HEAD'],
      ['GET', '/change', 'POST'],
      ['PATCH', '/change', 'POST'],
    ] as const) {
      const text = method.startsWith('P') ? (['a=1', 'text/plain'] as const) : [];
      const { status, headers, body } = await call(known, method, path, ...text);
      assert.deepEqual([status, headers.allow], [405, allow], `${method} ${path}`);
      assert.match(JSON.parse(body).Error, new RegExp(`has no method ${method}, only ${allow}`));
    }
    const local = await call({ socketPath: socket }, 'GET', '/change');
    assert.deepEqual([local.status, local.headers.allow], [405, 'POST']);
    assert.equal((await call(target, 'POST', '/echo/x')).status, 401);
    assert.equal((await call(known, 'POST', '/none')).status, 404);
  });

  it('accepts JSON or an empty body', async () => {
    await start();
    const target = { socketPath: socket };
    for (const [text, type, status] of [
      ['{"a":', 'application/json', 400],
      ['', 'application/json', 200],
      ['', undefined, 200],
      ['a=1', 'application/x-www-form-urlencoded', 415],
    ] as const) {
      const answer = await call(target, 'POST', '/change', text, type);
      assert.equal(answer.status, status, `${type}: ${text}`);
      if (status !== 200) assert.match(JSON.parse(answer.body).Error, /\w/);
    }
  });

  it('parses endpoints', () => {
    assert.deepEqual(parseEndpoint(':80'), { host: '0.0.0.0', port: 80 });
    assert.deepEqual(parseEndpoint('[::1]:0'), { host: '::1', port: 0 });
    assert.deepEqual(parseEndpoint('node.local:65535'), { host: 'node.local', port: 65_535 });
    for (const wrong of ['80', 'a:', 'a:65536', 'a:1e3', 'a: 1', '::1:80', 'a:0x50', '[::1]'])
      assert.equal(parseEndpoint(wrong), undefined, wrong);
  });
});
