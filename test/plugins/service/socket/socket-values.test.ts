import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { SocketService } from '#models/linux/socket-service.ts';
import { FakeHost } from '../../fake-ports.ts';
import { startedNode } from '../../ipv4net/wired-node.ts';
import type { TestNode } from '../../test-node.ts';
import { endpointsValue, localPod, remotePod, serviceValue } from '../service-values.ts';

const KEY = 'config/linux/socket/v2/service/default/web';
const port = [{ name: 'http', protocol: 'TCP', port: 80, node_port: 30_080 }];
const inside = { address: '10.1.1.2', port: 8080, weight: 1 };
const remote = { address: '10.1.2.2', port: 8080, weight: 1 };

async function nodeWithSockets(weight = 1): Promise<TestNode> {
  const host = new FakeHost();
  host.socketServices = true;
  const service = { socketServices: '/sys/fs', serviceLocalEndpointWeight: weight };
  return await startedNode({ host, service });
}

function mappingsOf(node: TestNode): SocketService['mappings'] {
  return node.at<SocketService>(KEY).mappings;
}

describe('a service at sockets', () => {
  it('has all of its addresses in one mapping, if they have the same backends', async () => {
    const node = await nodeWithSockets();
    await node.put(
      serviceValue('web', '10.96.0.10', {
        service_type: 'NodePort',
        session_affinity: 'ClientIP',
        session_affinity_timeout: 600,
        port,
      }),
    );
    await node.put(endpointsValue('web', [localPod(2), remotePod(2)]));
    assert.deepEqual(mappingsOf(node), [
      {
        frontends: [
          { address: '10.96.0.10', port: 80, protocol: 'TCP' },
          { address: '172.16.0.5', port: 30_080, protocol: 'TCP' },
          { address: '192.168.16.1', port: 30_080, protocol: 'TCP' },
        ],
        backends: [inside, remote],
        affinity_timeout: 600,
      },
    ]);
    assert.equal(node.services.rendererName(), 'nat44, socket');
    assert.ok(node.services.valuesOf('default/web').has(KEY));
  });

  it('is refused without endpoints', async () => {
    const node = await nodeWithSockets();
    await node.put(serviceValue('web', '10.96.0.10'));
    assert.deepEqual(mappingsOf(node), [
      {
        frontends: [{ address: '10.96.0.10', port: 80, protocol: 'TCP' }],
        backends: [],
        affinity_timeout: 0,
      },
    ]);
  });

  it('ignores the external traffic policy, which is for clients outside, and follows the internal one', async () => {
    const node = await nodeWithSockets();
    await node.put(endpointsValue('web', [localPod(2), remotePod(2)]));
    const fields = { service_type: 'NodePort', port } as const;
    await node.put(
      serviceValue('web', '10.96.0.10', { ...fields, external_traffic_policy: 'Local' }),
    );
    assert.deepEqual(
      mappingsOf(node).map(({ backends }) => backends),
      [[inside, remote]],
    );
    await node.put(
      serviceValue('web', '10.96.0.10', { ...fields, internal_traffic_policy: 'Local' }),
    );
    assert.deepEqual(
      mappingsOf(node).map(({ backends }) => backends),
      [[inside], [inside, remote]],
    );
  });

  it('has local backends with their weight, and more of them than VPP', async () => {
    const node = await nodeWithSockets(3);
    await node.put(serviceValue('web', '10.96.0.10'));
    const many = Array.from({ length: 300 }, (_, at) => ({
      ip: `10.1.${2 + (at >> 7)}.${2 + (at & 127)}`,
      node: 'node-b',
      pod: `p${at}`,
    }));
    await node.put(endpointsValue('web', [localPod(2), ...many]));
    const [{ backends } = { backends: [] }] = mappingsOf(node);
    assert.equal(backends.length, 301);
    assert.deepEqual(
      backends.filter(({ weight }) => weight !== 1),
      [{ ...inside, weight: 3 }],
    );
  });

  it('does not exist on a node that is not configured for it, or whose kernel cannot do it', async () => {
    const host = new FakeHost();
    for (const service of [{ socketServices: '/sys/fs' }, {}]) {
      const node = await startedNode({ host, service });
      await node.put(serviceValue('web', '10.96.0.10'));
      assert.equal(node.config.has(KEY), false);
      assert.equal(node.services.rendererName(), 'nat44');
      host.socketServices = true;
    }
  });
});
