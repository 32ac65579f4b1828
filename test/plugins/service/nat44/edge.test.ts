/** NAT44 of a node whose kernel translates services at sockets. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { DNat44 } from '#models/vpp/dnat44.ts';
import type { Nat44AddressPool } from '#models/vpp/nat44-address-pool.ts';
import { FakeHost } from '../../fake-ports.ts';
import { startedNode } from '../../ipv4net/wired-node.ts';
import type { TestNode, TestNodeOptions } from '../../test-node.ts';
import { endpointsValue, localPod, remotePod, serviceValue } from '../service-values.ts';

const INTERFACE = 'config/vpp/nat/v2/nat44-interface/';
const NAT_LINK_TABLE = 4_294_967_292;
const POD_TABLE = 1;
const port = [{ name: 'http', protocol: 'TCP', port: 80, node_port: 30_080 }];

/** With the pod 10.1.1.2. */
async function edgeNode(options: TestNodeOptions = {}): Promise<TestNode> {
  const host = new FakeHost();
  host.socketServices = true;
  const node = await startedNode({ host, service: { socketServices: '/sys/fs' }, ...options });
  await node.add('web', 'c1');
  return node;
}

const interfaces = (node: TestNode): string[] =>
  [...node.config.keys()]
    .filter((key) => key.startsWith(INTERFACE))
    .map((key) => key.slice(INTERFACE.length))
    .sort();

/** Tables of the backends, by the port of the mapping. */
function tables(node: TestNode): Record<number, number[]> {
  const { st_mappings } = node.at<DNat44>('config/vpp/nat/v2/dnat44/default/web');
  return Object.fromEntries(
    st_mappings.map(({ external_port, local_ips }) => [
      external_port,
      [...new Set(local_ips.filter((one) => one.probability > 0).map((one) => one.vrf_id))],
    ]),
  );
}

const EDGE = ['Gig1', 'natLink', 'tap-vpp2'];

describe('NAT44 at the edge', () => {
  it('is on no interface of a pod or of the overlay', async () => {
    const node = await edgeNode();
    await node.put(serviceValue('web', '10.96.0.10', { service_type: 'NodePort', port }));
    await node.put(endpointsValue('web', [localPod(2), remotePod(2)]));
    assert.deepEqual(interfaces(node), EDGE);
    assert.deepEqual(tables(node), { 80: [NAT_LINK_TABLE], 30080: [NAT_LINK_TABLE] });
  });

  it('is on the interface of a pod while clients outside reach it with their addresses', async () => {
    const node = await edgeNode();
    const service = (external_traffic_policy: string) =>
      serviceValue('web', '10.96.0.10', {
        service_type: 'NodePort',
        external_traffic_policy,
        port,
      });
    await node.put(service('Local'));
    assert.deepEqual(interfaces(node), EDGE);
    await node.put(endpointsValue('web', [localPod(2), remotePod(2)]));
    const withPod = [...EDGE, 'vpp-tap-c1'];
    assert.deepEqual(interfaces(node), withPod);
    assert.deepEqual(tables(node), { 80: [NAT_LINK_TABLE], 30080: [POD_TABLE] });
    await node.resync();
    assert.deepEqual(interfaces(node), withPod);
    await node.put(service('Cluster'));
    assert.deepEqual(interfaces(node), EDGE);
    await node.put(service('Local'));
    await node.put(endpointsValue('web', [remotePod(2)]));
    assert.deepEqual(interfaces(node), EDGE);
  });

  it('is on the interface of a pod that is added after it became a backend', async () => {
    const node = await edgeNode();
    await node.put(
      serviceValue('web', '10.96.0.10', {
        service_type: 'NodePort',
        external_traffic_policy: 'Local',
        port,
      }),
    );
    await node.put(endpointsValue('web', [localPod(3)]));
    assert.deepEqual(interfaces(node), EDGE);
    await node.add('late', 'c2');
    assert.deepEqual(interfaces(node), [...EDGE, 'vpp-tap-c2']);
  });

  it('has an address to replace clients for each table of backends', async () => {
    const yaml =
      'ipamConfig: {nodeInterconnectCIDR: 192.168.16.0/24, defaultGateway: 192.168.16.100}';
    const node = await edgeNode({ yaml });
    const pools = [...node.config].flatMap(([key, value]) => {
      if (!key.startsWith('config/vpp/nat/v2/nat44-pool/')) return [];
      const { first_ip, vrf_id, twice_nat } = value as Nat44AddressPool;
      return twice_nat ? [[vrf_id, first_ip]] : [];
    });
    assert.deepEqual(Object.fromEntries(pools), {
      0: '172.30.1.1',
      [POD_TABLE]: '10.1.1.1',
      [NAT_LINK_TABLE]: '10.1.1.254',
    });
  });
});
