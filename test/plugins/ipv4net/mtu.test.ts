import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { innerMtu, underlayMtu } from '#plugins/ipv4net/mtu.ts';
import { NodeUpdate } from '#plugins/nodesync/api.ts';
import { nodeValue, sorted, TestNode } from '../test-node.ts';
import { fakeVppWithNics } from './vpp-with.ts';

const nic = (internalName: string, mtu: number) => ({
  swIfIndex: 1,
  internalName,
  deviceType: 'dpdk',
  tag: '',
  mtu,
});
const link = (name: string, mtu: number, ...addresses: string[]) => ({ name, mtu, addresses });

const managementAddresses = ['10.0.0.1'];

describe('MTU of the network between the nodes', () => {
  it('is that of the link that VPP is bound to', () => {
    const hostLinks = [link('eth0', 1500, '10.0.0.1/24'), link('eth1', 9000)];
    assert.equal(
      underlayMtu({ nic: 'host-eth1', vppInterfaces: [], hostLinks, managementAddresses }),
      9000,
    );
  });

  it('is no larger than that of the host, whatever the device could carry', () => {
    const hostLinks = [
      link('eth0', 1460, '10.0.0.1/24'),
      link('eth1', 1300),
      link('tun0', 1280, '10.8.0.1/24'),
    ];
    const vppInterfaces = [nic('Gig1', 9000)];
    assert.equal(underlayMtu({ nic: 'Gig1', vppInterfaces, hostLinks, managementAddresses }), 1460);
    assert.equal(
      underlayMtu({
        nic: 'Gig1',
        vppInterfaces: [nic('Gig1', 1400)],
        hostLinks,
        managementAddresses,
      }),
      1400,
    );
  });

  it('is that of every Ethernet where Kubernetes knows the host by no link of its own', () => {
    const vppInterfaces = [nic('Gig1', 9000)];
    assert.equal(
      underlayMtu({ nic: 'Gig1', vppInterfaces, hostLinks: [], managementAddresses }),
      1500,
    );
  });

  it('is not known without a NIC', () => {
    assert.equal(
      underlayMtu({ nic: undefined, vppInterfaces: [], hostLinks: [], managementAddresses }),
      undefined,
    );
  });

  it('subtracts the tunnel overhead, and keeps the minimum of IPv6', () => {
    assert.equal(innerMtu(1500, { protocol: 'VXLAN', family: 4 }), 1450);
    assert.equal(innerMtu(1500, { protocol: 'VXLAN', family: 6 }), 1430);
    assert.equal(innerMtu(1500, { protocol: 'WireGuard', family: 4 }), 1440);
    assert.equal(innerMtu(1500, { protocol: 'WireGuard', family: 6 }), 1420);
    assert.equal(innerMtu(1500, undefined), 1500);
    assert.equal(innerMtu(1300, { protocol: 'VXLAN', family: 4 }), 1280);
  });
});

describe('MTU of pods and host', () => {
  const mtus = (node: TestNode) =>
    ['tap-vpp2', 'vpp-tap-c1'].map((name) => node.at(`config/vpp/v2/interfaces/${name}`)['mtu']);

  async function started(yaml: string, names = ['Gig1']): Promise<TestNode> {
    const node = new TestNode({ yaml, vpp: fakeVppWithNics(...names) });
    await node.resync([nodeValue('node-a', '172.16.0.5')]);
    await node.add('web', 'c1');
    return node;
  }

  it('is measured where none is configured', async () => {
    const node = await started('ipamConfig: {nodeInterconnectCIDR: 192.168.16.0/24}');
    assert.deepEqual(mtus(node), [1450, 1450]);
    node.host.hostLinks = [link('eth0', 9000, '172.16.0.5/24')];
    await node.heal();
    assert.deepEqual(mtus(node), [8950, 8950]);
  });

  it('follows the Node object, which says by which link the host is in the network', async () => {
    const yaml = 'ipamConfig: {nodeInterconnectCIDR: 192.168.16.0/24}';
    const node = new TestNode({ yaml, vpp: fakeVppWithNics('Gig1') });
    node.host.hostLinks = [link('eth0', 1400, '172.16.0.5/24'), link('eth1', 1300, '10.8.0.5/24')];
    // the first agent of a cluster may start before the reflector has written the Node object
    await node.resync([]);
    await node.add('web', 'c1');
    assert.deepEqual(mtus(node), [1450, 1450]);
    for (const [address, mtu] of [
      ['172.16.0.5', 1350],
      ['10.8.0.5', 1280],
    ] as const) {
      const { error } = await node.put(nodeValue('node-a', address));
      assert.equal(error, undefined);
      assert.deepEqual(mtus(node), [mtu, mtu]);
      const values = sorted(node.config);
      await node.heal();
      assert.deepEqual(sorted(node.config), values);
    }
  });

  it('is that of the network without an overlay', async () => {
    const node = await started('nodeToNodeTransport: nooverlay');
    assert.deepEqual(mtus(node), [1500, 1500]);
  });

  it('is what the NIC can carry in a tunnel where more is configured', async () => {
    const device = fakeVppWithNics('Gig1');
    device.nics = [nic('Gig1', 1500)];
    const node = new TestNode({ yaml: 'mtuSize: 9000', vpp: device });
    const { warnings } = await node.resync([nodeValue('node-a', '172.16.0.5')]);
    await node.add('web', 'c1');
    assert.deepEqual(mtus(node), [1450, 1450]);
    assert.deepEqual(warnings, ['CV_NET_MTU_TOO_LARGE']);
    const own = node.nodes.thisNode();
    const update = NodeUpdate.event({ nodeName: own.name, previous: own, current: own });
    assert.deepEqual((await node.run(update)).warnings, [], 'it is known');
    device.nics = [nic('Gig1', 1400)];
    assert.deepEqual((await node.heal()).warnings, ['CV_NET_MTU_TOO_LARGE']);
    assert.deepEqual(mtus(node), [1350, 1350]);

    const yaml = `
mtuSize: 1460
nodeConfig: [{nodeName: node-a, mainVPPInterface: {interfaceName: host-eth1}}]
`;
    const bound = new TestNode({ yaml });
    bound.host.hostLinks = [link('eth1', 1500)];
    await bound.resync([nodeValue('node-a', '172.16.0.5')]);
    assert.equal(bound.at('config/vpp/v2/interfaces/tap-vpp2')['mtu'], 1450);
    bound.host.hostLinks = [link('eth1', 9000)];
    await bound.heal();
    assert.equal(bound.at('config/vpp/v2/interfaces/tap-vpp2')['mtu'], 1460);
  });

  it('is at most what VPP permits', async () => {
    const device = fakeVppWithNics('Gig1');
    device.nics = [nic('Gig1', 65_535)];
    for (const vpp of [fakeVppWithNics(), device]) {
      const node = new TestNode({ yaml: 'mtuSize: 70000', vpp });
      const { warnings } = await node.resync([nodeValue('node-a', '172.16.0.5')]);
      await node.add('web', 'c1');
      assert.deepEqual(mtus(node), [9216, 9216]);
      assert.deepEqual(warnings, ['CV_NET_MTU_TOO_LARGE']);
    }
  });

  it('is even where VPP segments packets', async () => {
    assert.deepEqual(mtus(await started('mtuSize: 1301\nenableGSO: true', [])), [1300, 1300]);
    assert.deepEqual(mtus(await started('mtuSize: 1301\nenableGSO: true')), [1300, 1300]);
    assert.deepEqual(mtus(await started('mtuSize: 1301')), [1301, 1301]);
  });

  it('is the configured one, and left to VPP without a NIC', async () => {
    assert.deepEqual(mtus(await started('mtuSize: 1300')), [1300, 1300]);
    assert.deepEqual(mtus(await started('', [])), [0, 0]);
  });
});
