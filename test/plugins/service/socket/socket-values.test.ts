import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type SocketNodeAddress, socketNodeAddressKey } from '#models/linux/socket-node-address.ts';
import type { SocketService } from '#models/linux/socket-service.ts';
import { FakeHost } from '../../fake-ports.ts';
import { startedNode } from '../../ipv4net/wired-node.ts';
import { nodeValue, type TestNode, vppNodeValue } from '../../test-node.ts';
import { endpointsValue, localPod, remotePod, serviceValue } from '../service-values.ts';

const KEY = 'config/linux/socket/v2/service/default/web';
const port = [{ name: 'http', protocol: 'TCP', port: 80, node_port: 30_080 }];
const nodePort = { address: '0.0.0.0', port: 30_080, protocol: 'TCP' };
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
          { ...nodePort, scope: 'OTHER_NODES' },
          { ...nodePort, scope: 'THIS_NODE' },
          { address: '10.96.0.10', port: 80, protocol: 'TCP', scope: 'ADDRESS' },
        ],
        backends: [inside, remote],
        affinity_timeout: 600,
        host_source: '',
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
        frontends: [{ address: '10.96.0.10', port: 80, protocol: 'TCP', scope: 'ADDRESS' }],
        backends: [],
        affinity_timeout: 0,
        host_source: '',
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
    const inWords = mappingsOf(node).map(({ frontends, backends, host_source }) => [
      frontends.map(({ address, scope }) => `${scope} ${address}`).join(),
      backends,
      host_source,
    ]);
    assert.deepEqual(inWords, [
      ['THIS_NODE 0.0.0.0', [inside, remote], '172.16.0.5'],
      ['ADDRESS 10.96.0.10', [inside, remote], ''],
      // another node has its own backends
      ['ADDRESS 172.16.0.6,ADDRESS 192.168.16.2', [remote], '172.16.0.5'],
    ]);
    await node.put(
      serviceValue('web', '10.96.0.10', { ...fields, internal_traffic_policy: 'Local' }),
    );
    assert.deepEqual(
      new Map(mappingsOf(node).map(({ frontends, backends }) => [frontends[0]!.scope, backends])),
      new Map([
        ['ADDRESS', [inside]],
        ['OTHER_NODES', [inside, remote]],
      ]),
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

/** By address, whether it is one of this node. */
function addressesOf(node: TestNode): Record<string, boolean> {
  const prefix = socketNodeAddressKey.prefix();
  const found = [...node.config].filter(([key]) => key.startsWith(prefix));
  return Object.fromEntries(
    found.map(([, value]) => [
      (value as SocketNodeAddress).address,
      (value as SocketNodeAddress).is_local,
    ]),
  );
}

describe('addresses at which sockets reach node ports', () => {
  const own = { '172.16.0.5': true, '192.168.16.1': true };

  it('are those of all nodes, while they are members', async () => {
    const node = await nodeWithSockets();
    const ofNodeB = { '172.16.0.6': false, '192.168.16.2': false };
    assert.deepEqual(addressesOf(node), { ...own, ...ofNodeB });
    await node.put(nodeValue('node-b', '172.16.0.7'));
    const moved = { ...own, '172.16.0.7': false, '192.168.16.2': false };
    assert.deepEqual(addressesOf(node), moved);
    await node.put(nodeValue('node-c', '172.16.0.8'));
    assert.deepEqual(addressesOf(node), moved, 'a node without an ID has no address');
    await node.put(vppNodeValue(3, 'node-c', '192.168.16.3/24'));
    assert.deepEqual(addressesOf(node), {
      ...moved,
      '172.16.0.8': false,
      '192.168.16.3': false,
    });
    await node.remove(vppNodeValue(3, 'node-c'));
    await node.remove(vppNodeValue(2, 'node-b'));
    assert.deepEqual(addressesOf(node), own);
  });

  it('are none that this node uses for something else, whatever other nodes claim', async () => {
    const node = await nodeWithSockets();
    const before = addressesOf(node);
    const strange = [
      '10.96.0.10',
      '10.1.1.2',
      '10.1.2.2',
      '172.30.1.1',
      '192.168.30.1',
      '127.0.0.1',
      '0.0.0.0',
      '169.254.169.254',
      '224.0.0.1',
      'none',
      '',
    ];
    const wrong = strange.map((address) => `${address}/24`);
    await node.put(vppNodeValue(3, 'node-c', ...wrong));
    await node.put(nodeValue('node-c', ...strange));
    assert.deepEqual(addressesOf(node), before);
  });

  it('stay those of this node when another one claims them, and of one when two nodes do', async () => {
    const node = await nodeWithSockets();
    const before = addressesOf(node);
    const claimed = ['172.16.0.5', '192.168.16.1', '192.168.16.2'];
    await node.put(vppNodeValue(3, 'node-c', ...claimed.map((address) => `${address}/24`)));
    await node.put(nodeValue('node-c', ...claimed));
    assert.deepEqual(addressesOf(node), before);
    await node.remove(vppNodeValue(3, 'node-c'));
    assert.deepEqual(addressesOf(node), before);
  });

  it('are not configured where sockets translate nothing', async () => {
    const node = await startedNode();
    assert.deepEqual(addressesOf(node), {});
  });
});
