import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { nodeValue, type TestNode, vppNodeValue } from '../test-node.ts';
import { keys, startedNode } from './wired-node.ts';

describe('wiring of a node without an overlay', () => {
  const yaml =
    'nodeToNodeTransport: nooverlay\nipamConfig: {nodeInterconnectCIDR: 192.168.16.0/24}';

  it('routes straight to other nodes', async () => {
    const node = await startedNode({ yaml }, [
      vppNodeValue(2, 'node-b', '192.168.16.2/24'),
      nodeValue('node-b', '172.16.0.6', '192.168.16.2'),
    ]);
    assert.deepEqual(keys(node, 'gw/192.168.16.2'), [
      'config/vpp/v2/route/vrf/0/dst/10.1.2.0/24/gw/192.168.16.2',
      'config/vpp/v2/route/vrf/0/dst/172.16.0.6/32/gw/192.168.16.2',
      'config/vpp/v2/route/vrf/0/dst/172.30.2.0/24/gw/192.168.16.2',
    ]);
    assert.deepEqual(keys(node, 'vxlan'), []);
    assert.deepEqual(node.net.overlayInterfaces(), []);
  });

  it('looks only its own pods up in the VRF of the pods, its host in the main one, and drops only what has no session of NAT44', async () => {
    const node = await startedNode({ yaml }, []);
    const routes = keys(node, 'route/vrf').filter((key) => !key.includes('/dst/10.96.0.0/12/'));
    assert.deepEqual(routes, [
      'config/vpp/v2/route/vrf/1/dst/169.254.254.252/30/gw/0.0.0.0',
      'config/vpp/v2/route/vrf/4294967290/dst/0.0.0.0/0/gw/0.0.0.0',
      'config/vpp/v2/route/vrf/4294967291/dst/0.0.0.0/0/gw/0.0.0.0',
      'config/vpp/v2/route/vrf/4294967292/dst/0.0.0.0/0/gw/0.0.0.0',
      'config/vpp/v2/route/vrf/4294967292/dst/10.1.0.0/16/gw/0.0.0.0',
      'config/vpp/v2/route/vrf/4294967292/dst/10.1.1.0/24/gw/0.0.0.0',
      'config/vpp/v2/route/vrf/4294967292/dst/10.1.1.254/32/gw/0.0.0.0',
      'config/vpp/v2/route/vrf/4294967293/dst/0.0.0.0/0/gw/0.0.0.0',
      'config/vpp/v2/route/vrf/4294967293/dst/10.1.0.0/16/gw/0.0.0.0',
      'config/vpp/v2/route/vrf/4294967293/dst/10.1.1.0/24/gw/0.0.0.0',
    ]);
    assert.deepEqual(keys(node, 'route/if/natLink'), [
      'config/vpp/v2/route/if/natLink/vrf/0/dst/10.1.1.254/32/gw/169.254.254.250',
      'config/vpp/v2/route/if/natLink/vrf/1/dst/10.1.1.254/32/gw/169.254.254.250',
      'config/vpp/v2/route/if/natLink/vrf/1/dst/172.16.0.5/32/gw/169.254.254.250',
    ]);
    assert.deepEqual(keys(node, 'route/if/vrfLink'), [
      'config/vpp/v2/route/if/vrfLink/vrf/0/dst/10.1.1.0/24/gw/169.254.254.254',
      'config/vpp/v2/route/if/vrfLink/vrf/1/dst/0.0.0.0/0/gw/169.254.254.254',
    ]);
  });

  it('has no routes to nodes without an address of the family of the pods, and says why', async () => {
    const subnets = [
      'podSubnetCIDR: "fd01::/48", podSubnetOneNodePrefixLen: 64',
      'vppHostSubnetCIDR: "fd02::/48", vppHostSubnetOneNodePrefixLen: 64',
      'vxlanCIDR: "fd04::/64", serviceCIDR: "fd05::/108"',
    ].join();
    const nodeB = [
      vppNodeValue(2, 'node-b', '192.168.16.2/24', 'fd03::2/64'),
      nodeValue('node-b', 'fd09::6'),
    ];
    const nodeC = [vppNodeValue(3, 'node-c', '192.168.16.3/24'), nodeValue('node-c', 'fd09::7')];
    const reasonFor = (node: TestNode, name: string) =>
      node.net.nodeLink(node.nodes.allNodes().get(name)!)?.whyUnreachable;
    const startedWith = (network: string) =>
      startedNode(
        {
          yaml: `nodeToNodeTransport: nooverlay\nipamConfig: {nodeInterconnectCIDR: "${network}", ${subnets}}`,
        },
        [...nodeB, ...nodeC],
      );

    const ofPods = await startedWith('fd03::/64');
    assert.deepEqual(keys(ofPods, 'gw/fd03::2').length, 3);
    assert.equal(reasonFor(ofPods, 'node-b'), undefined);
    assert.match(reasonFor(ofPods, 'node-c') ?? '', /^it has announced no IPv6 address/);
    assert.deepEqual(keys(ofPods, 'gw/192.168.16.'), []);

    const ofOthers = await startedWith('192.168.16.0/24');
    assert.match(reasonFor(ofOthers, 'node-b') ?? '', /^this node has no IPv6 address/);
    assert.deepEqual([...keys(ofOthers, 'gw/192.168.16.'), ...keys(ofOthers, 'gw/fd03::2')], []);
  });
});
