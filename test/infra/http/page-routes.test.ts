import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { gunzipSync, gzipSync } from 'node:zlib';
import Value from 'typebox/value';
import { systemClock } from '#infra/clock/system.ts';
import { httpSchema } from '#infra/http/config.ts';
import { pageRoutes } from '#infra/http/page-routes.ts';
import { json, type Route } from '#infra/http/route.ts';
import { type HttpServer, startHttpServer } from '#infra/http/server.ts';
import { silentLogger } from '#infra/log/log.ts';
import { temporaryFolder } from '#test/support/temporary-folder.ts';
import { call } from './authentication/client.ts';

const SCRIPT = 'console.log("page");\n';

describe('the files of the page', () => {
  let folder: string;
  let server: HttpServer | undefined;
  beforeEach(() => {
    folder = join(temporaryFolder('page'), 'ui');
  });
  afterEach(() => server?.close());

  function build(): void {
    mkdirSync(folder);
    const files = { 'index.html': '<!DOCTYPE html>', 'main-ABC.js': SCRIPT, 'notes.txt': 'no' };
    for (const [name, text] of Object.entries(files)) {
      writeFileSync(join(folder, name), text);
      writeFileSync(join(folder, `${name}.gz`), gzipSync(text));
    }
  }

  async function start(values: object = {}): Promise<number> {
    const secret: Route = {
      method: 'GET',
      path: '/secret',
      mutating: false,
      summary: '',
      handle: () => json('of the node'),
    };
    const config = Value.Parse(
      httpSchema,
      Value.Default(httpSchema, {
        endpoint: '127.0.0.1:0',
        'local-socket': join(folder, '../agent.sock'),
        ...values,
      }),
    );
    server = await startHttpServer(
      config,
      [...pageRoutes(folder), secret],
      systemClock,
      silentLogger,
    );
    return server.port;
  }

  it('are served with a policy that permits nothing but themselves', async () => {
    build();
    const port = await start();
    const page = await call({ port, path: '/ui/' });
    assert.equal(page.status, 200);
    assert.equal(page.headers['content-type'], 'text/html; charset=utf-8');
    assert.equal(page.headers['cache-control'], 'no-cache');
    const policy = String(page.headers['content-security-policy']);
    assert.match(policy, /default-src 'none'/);
    assert.doesNotMatch(policy, /unsafe|\*/);
    const script = await call({ port, path: '/ui/main-ABC.js' });
    assert.equal(script.text, SCRIPT);
    assert.match(String(script.headers['cache-control']), /immutable/);
  });

  it('are compressed only for a client that accepts gzip', async () => {
    build();
    const port = await start();
    const encodings = {
      gzip: true,
      'br, GZIP;q=0.5': true,
      'gzip;q=0': false,
      'br, gzip; q=0.000': false,
      'x-gzip': false,
      identity: false,
    };
    for (const [accepted, isZipped] of Object.entries(encodings)) {
      const headers = { 'accept-encoding': accepted };
      const reply = await call({ port, path: '/ui/main-ABC.js', headers });
      assert.equal(reply.headers['content-encoding'] === 'gzip', isZipped, accepted);
    }
  });

  it('are compressed for a client that understands it', async () => {
    build();
    const port = await start();
    const response = await fetch(`http://127.0.0.1:${port}/ui/main-ABC.js`, {
      headers: { 'accept-encoding': 'gzip' },
    });
    assert.equal(response.headers.get('content-encoding'), 'gzip');
    assert.equal(response.headers.get('vary'), 'Accept-Encoding');
    assert.equal(await response.text(), SCRIPT);
    const plain = await call({ port, path: '/ui/main-ABC.js' });
    assert.equal(plain.headers['content-encoding'], undefined);
    assert.equal(gunzipSync(gzipSync(plain.text)).toString(), SCRIPT);
  });

  it('are those of the page only, and no path leads out of its folder', async () => {
    build();
    const port = await start();
    for (const name of [
      'missing.js',
      'notes.txt',
      'main-ABC.js.gz',
      '..%2fagent.sock',
      '%2e%2e%2fagent.sock',
    ])
      assert.equal((await call({ port, path: `/ui/${name}` })).status, 404, name);
  });

  it('need no user, unlike what the page shows', async () => {
    build();
    const port = await start({ 'client-basic-auth': ['operator:secret'] });
    assert.equal((await call({ port, path: '/ui/' })).status, 200);
    assert.equal((await call({ port, path: '/ui/main-ABC.js' })).status, 200);
    assert.equal((await call({ port, path: '/secret' })).status, 401);
  });

  it('have an address without the slash, below any path', async () => {
    build();
    const port = await start();
    const { status, headers } = await call({ port, path: '/ui' });
    assert.deepEqual([status, headers.location], [308, 'ui/']);
  });

  it('are built by a command that the error names', async () => {
    const port = await start();
    const { status, text } = await call({ port, path: '/ui/' });
    assert.equal(status, 404);
    assert.match(text, /npm run build:ui/);
    // Built while the agent runs.
    build();
    assert.equal((await call({ port, path: '/ui/' })).status, 200);
  });
});
