import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startedNode } from '../ipv4net/wired-node.ts';
import { endpointsValue, localPod, remotePod, serviceValue } from './service-values.ts';

test('the listener of health checks gets each change of services, endpoints and policy', async () => {
  const node = await startedNode();
  let checks: unknown;
  node.services.watchHealthChecks((current) => {
    checks = [...current];
  });
  const balanced = (policy: string) =>
    serviceValue('web', '10.96.0.10', {
      service_type: 'LoadBalancer',
      external_traffic_policy: policy,
      health_check_node_port: 31_000,
    });
  await node.put(balanced('Local'));
  assert.deepEqual(checks, [['default/web', { port: 31_000, localEndpoints: 0 }]]);
  await node.put(endpointsValue('web', [localPod(2), remotePod(2)]));
  assert.deepEqual(checks, [['default/web', { port: 31_000, localEndpoints: 1 }]]);
  checks = undefined;
  await node.heal();
  assert.deepEqual(
    checks,
    [['default/web', { port: 31_000, localEndpoints: 1 }]],
    'after a resync',
  );
  await node.put(balanced('Cluster'));
  assert.deepEqual(checks, []);
});
