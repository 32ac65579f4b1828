import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { test } from 'node:test';
import { endpointsModel } from '#kubernetes/models/endpoints.ts';
import { serviceModel } from '#kubernetes/models/service.ts';
import { REFLECTOR_PREFIX, resources } from '#kubernetes/resources/resources.ts';
import { valueText } from '#kubernetes/resources/value-text.ts';
import { makeNode, startAgent, until } from './harness.ts';

const NAME = { name: 'web', namespace: 'shop' };

function balancedService(port: number): string {
  const value = serviceModel.canonical({
    ...NAME,
    service_type: 'LoadBalancer',
    cluster_ip: '10.96.0.10',
    external_traffic_policy: 'Local',
    health_check_node_port: port,
    port: [{ name: 'http', protocol: 'TCP', port: 80 }],
  });
  return valueText(resources.service, value);
}

const endpoints = endpointsModel.canonical({
  ...NAME,
  endpoint_subsets: [
    {
      addresses: [{ ip: '10.1.1.2', node_name: 'node1' }],
      ports: [{ name: 'http', port: 8080, protocol: 'TCP' }],
    },
  ],
});

test('the health check of a service is served on its node port, and shown if it cannot be', async () => {
  const other = createServer().listen(0);
  await once(other, 'listening');
  const address = other.address();
  assert.ok(typeof address === 'object' && address !== null);
  const { port } = address;

  const node = makeNode();
  await using running = await startAgent(node);
  const key = REFLECTOR_PREFIX + resources.service.key('web', 'shop');
  await node.cluster.put(key, balancedService(port));
  const shown = async () => {
    const { body } = await running.get('/contiv/v1/services/shop/web');
    return (body as { healthCheck?: { error: string | null; localEndpoints: number } }).healthCheck;
  };
  await until(async () => /EADDRINUSE/.test((await shown())?.error ?? ''));

  other.close();
  await once(other, 'close');
  await until(async () => (await shown())?.error === null);
  const status = async () => (await fetch(`http://127.0.0.1:${port}/`)).status;
  assert.equal(await status(), 503);
  await node.cluster.put(
    REFLECTOR_PREFIX + resources.endpoints.key('web', 'shop'),
    valueText(resources.endpoints, endpoints),
  );
  await until(async () => (await status()) === 200);
  assert.equal((await shown())?.localEndpoints, 1);

  await node.cluster.delete(key);
  await until(
    async () => (await fetch(`http://127.0.0.1:${port}/`).catch(() => undefined)) === undefined,
  );
});
