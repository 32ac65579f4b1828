import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { systemClock } from '#infra/clock/system.ts';
import { kubeProxyOnHost } from '#plugins/service/health-check/kube-proxy.ts';

async function served(status: number | 'silent') {
  const server = createServer((_request, response) => {
    if (status !== 'silent') response.writeHead(status).end('{"nodeEligible": true}');
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const close = async () => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  };
  return { port, close };
}

test('kube-proxy runs when its health port answers, healthy or not', async () => {
  for (const [status, expected] of [
    [200, true],
    [503, true],
    [404, false],
    ['silent', false],
  ] as const) {
    const { port, close } = await served(status);
    assert.equal(await kubeProxyOnHost(systemClock, port).isRunning(), expected, String(status));
    await close();
    assert.equal(await kubeProxyOnHost(systemClock, port).isRunning(), false);
  }
});
