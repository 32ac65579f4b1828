import assert from 'node:assert/strict';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import Value from 'typebox/value';
import { type HttpConfig, httpSchema } from '#infra/http/config.ts';
import { integerArgument, json, type Route } from '#infra/http/route.ts';
import { ErrHttpConfig, type HttpServer, startHttpServer } from '#infra/http/server.ts';
import { silentLogger } from '#infra/log/log.ts';

const dir = mkdtempSync(join(tmpdir(), 'http-'));
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
];

const config = (values: Partial<HttpConfig> = {}): HttpConfig =>
  Value.Default(httpSchema, {
    endpoint: '127.0.0.1:0',
    'local-socket': socket,
    ...values,
  }) as HttpConfig;

interface Answer {
  status: number | undefined;
  body: string;
}

function call(target: object, method: string, path: string, body?: object): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const text = body && JSON.stringify(body);
    const headers = text ? { 'content-type': 'application/json' } : {};
    const req = request({ ...target, method, path, headers }, (res) => {
      let answer = '';
      res.on('data', (chunk) => {
        answer += chunk;
      });
      res.on('end', () => resolve({ status: res.statusCode, body: answer }));
    });
    req.on('error', reject);
    req.end(text);
  });
}

describe('REST server', () => {
  const servers: HttpServer[] = [];
  const start = async (values: Partial<HttpConfig> = {}) => {
    const server = await startHttpServer(config(values), routes, silentLogger);
    servers.push(server);
    return { host: '127.0.0.1', port: server.port };
  };
  after(() => Promise.all(servers.map((server) => server.close())));

  it('answers on the endpoint and on the local socket, replacing a stale one', async () => {
    writeFileSync(join(dir, 'stale'), '');
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
  });

  it('serves routes that change something on the local socket only', async () => {
    const target = await start();
    const refused = await call(target, 'POST', '/change', { a: 1 });
    assert.equal(refused.status, 403);
    assert.match(refused.body, /agent\.sock/);
    const done = await call({ socketPath: socket }, 'POST', '/change', { a: 1 });
    assert.deepEqual(JSON.parse(done.body), { body: { a: 1 } });
  });

  it('opens them only together with credentials', async () => {
    await assert.rejects(start({ 'open-mutating-routes': true }), ErrHttpConfig);
    const target = await start({ 'open-mutating-routes': true, 'client-basic-auth': ['u:p'] });
    assert.equal((await call(target, 'POST', '/change', {})).status, 401);
    assert.equal((await call({ ...target, auth: 'u:q' }, 'POST', '/change', {})).status, 401);
    assert.equal((await call({ ...target, auth: 'u:p' }, 'POST', '/change', {})).status, 200);
  });

  it('says what is wrong', async () => {
    const target = await start();
    const bad = await call(target, 'GET', '/echo/x?n=-1');
    assert.equal(bad.status, 400);
    assert.match(bad.body, /argument n=\\"-1\\" has to be a whole number/);
    const broken = await call(target, 'GET', '/broken');
    assert.deepEqual([broken.status, JSON.parse(broken.body)], [500, { Error: 'no' }]);
    assert.equal((await call(target, 'GET', '/none')).status, 404);
    await assert.rejects(start({ endpoint: 'nonsense' }), ErrHttpConfig);
  });
});
