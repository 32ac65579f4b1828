import assert from 'node:assert/strict';
import { createServer, Server } from 'node:net';
import { test } from 'node:test';
import { systemClock } from '#infra/clock/system.ts';
import { healthReply } from '#plugins/service/health-check/health-reply.ts';
import { httpHealthCheckPort } from '#plugins/service/health-check/http-health-check-port.ts';

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === 'object' && address !== null ? address.port : 0;
}

test('every path of the port answers on all addresses until it is closed', async () => {
  const number = await freePort();
  let count = 2;
  const port = httpHealthCheckPort(systemClock);
  const open = await port.open(number, () => healthReply('shop/web', count, true));
  const ready = await fetch(`http://127.0.0.1:${number}/healthz`);
  assert.equal(ready.status, 200);
  assert.equal(ready.headers.get('x-load-balancing-endpoint-weight'), '2');
  assert.deepEqual(await ready.json(), {
    service: { namespace: 'shop', name: 'web' },
    localEndpoints: 2,
    serviceProxyHealthy: true,
  });
  count = 0;
  const none = await fetch(`http://127.0.0.2:${number}/`, { method: 'POST', body: 'x' });
  assert.equal(none.status, 503);
  await none.text();
  await open.close();
  await assert.rejects(fetch(`http://127.0.0.1:${number}/`));
});

test('a connection that cannot be accepted, for want of files, does not end the agent', async (t) => {
  const number = await freePort();
  let server: Server | undefined;
  const { listen } = Server.prototype;
  t.mock.method(Server.prototype, 'listen', function (this: Server, ...args: unknown[]) {
    server = this;
    return Reflect.apply(listen, this, args);
  });
  const open = await httpHealthCheckPort(systemClock).open(number, () =>
    healthReply('shop/web', 1, true),
  );
  // as Node.js reports EMFILE of accept()
  server!.emit('error', new Error('accept EMFILE'));
  const ready = await fetch(`http://127.0.0.1:${number}/`);
  assert.equal(ready.status, 200);
  await ready.text();
  await open.close();
});

test('a port of another process is refused', async () => {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, resolve));
  const address = server.address();
  assert.ok(typeof address === 'object' && address !== null);
  const port = httpHealthCheckPort(systemClock);
  await assert.rejects(
    port.open(address.port, () => healthReply('shop/web', 1, true)),
    /EADDRINUSE/,
  );
  await new Promise((resolve) => server.close(resolve));
});
