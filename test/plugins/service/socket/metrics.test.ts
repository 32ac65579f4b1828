import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Registry } from 'prom-client';
import { podModel } from '#kubernetes/models/pod.ts';
import { resources } from '#kubernetes/resources/resources.ts';
import { SocketServiceMetrics } from '#plugins/service/socket/metrics.ts';
import { FakeHost } from '../../fake-ports.ts';
import { startedNode } from '../../ipv4net/wired-node.ts';
import type { TestNode } from '../../test-node.ts';
import { endpointsValue, localPod, serviceValue } from '../service-values.ts';

const configured = { socketServices: '/sys/fs' };

function hostWith(socketServices: boolean): FakeHost {
  const host = new FakeHost();
  host.socketServices = socketServices;
  return host;
}

/** Lines with values. */
async function series(node: TestNode): Promise<string[]> {
  const registry = new Registry();
  new SocketServiceMetrics(registry, node.services);
  const lines = (await registry.metrics()).split('\n');
  return lines.filter((line) => line !== '' && !line.startsWith('#'));
}

async function publish(node: TestNode): Promise<void> {
  await node.put(serviceValue('web', '10.96.0.10'));
  await node.put(endpointsValue('web', [localPod(2)]));
  const name = 'mesh';
  const annotations = { 'contivpp.io/service-translation': 'packets' };
  const value = podModel.canonical({ name, namespace: 'default', annotations });
  await node.put({ resource: 'pod', key: resources.pod.key(name, 'default'), value });
  await node.add(name, 'c1');
  await node.add(name, 'c1', 'net1');
  await node.add('web', 'c2');
}

describe('metrics of services at sockets', () => {
  it('count services, and pods whose sockets are left alone', async () => {
    const node = await startedNode({ host: hostWith(true), service: configured });
    await publish(node);
    assert.deepEqual(await series(node), [
      'contiv_socket_services 1',
      'contiv_socket_exempt_pods 1',
    ]);
    await node.del('mesh', 'c1');
    await node.del('mesh', 'c1', 'net1');
    assert.equal((await series(node)).at(-1), 'contiv_socket_exempt_pods 0');
  });

  it('count none where NAT44 has all packets', async () => {
    const node = await startedNode({ host: hostWith(false), service: configured });
    await publish(node);
    assert.deepEqual(await series(node), [
      'contiv_socket_services 0',
      'contiv_socket_exempt_pods 0',
    ]);
  });
});
