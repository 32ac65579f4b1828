import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { nodeValue, TestNode, vppNodeValue } from '../test-node.ts';
import { fakeVppWithNics } from './vpp-with.ts';
import { keys, LINUX_IF, VPP_IF } from './wired-node.ts';

describe('wiring of a node with IPv6', () => {
  const yaml = `
ipamConfig:
  podSubnetCIDR: fd01::/48
  podSubnetOneNodePrefixLen: 64
  vppHostSubnetCIDR: fd02::/48
  vppHostSubnetOneNodePrefixLen: 64
  nodeInterconnectCIDR: fd03::/64
  vxlanCIDR: fd04::/64
  serviceCIDR: fd05::/108
`;
  const others = [
    vppNodeValue(2, 'node-b', '10.0.0.2/24', 'fd03::2/64'),
    nodeValue('node-b', 'fd09::6', '172.16.0.6'),
  ];

  it('is the same in the other family', async () => {
    const node = new TestNode({ yaml, vpp: fakeVppWithNics('Gig1') });
    node.host.hostLinks = [{ name: 'eth0', mtu: 1500, addresses: ['fd09::5/64'] }];
    node.host.ipv6 = true;
    await node.resync([nodeValue('node-a', 'fd09::5'), ...others]);
    await node.add('web', 'c1');
    assert.deepEqual(keys(node, 'config/vpp/v2/route'), [
      // replies to clients outside, to cnat
      'config/vpp/v2/route/if/cnatLink/vrf/1/dst/fd01::1:ffff:ffff:ffff:fffe/128/gw/fdfe:feed:c0de::6',
      'config/vpp/v2/route/if/tap-vpp2/vrf/0/dst/fd02:0:0:1::2/128/gw/fd02:0:0:1::2',
      'config/vpp/v2/route/if/tap-vpp2/vrf/0/dst/fd09::5/128/gw/fd02:0:0:1::2',
      'config/vpp/v2/route/if/vpp-tap-c1/vrf/1/dst/fd01:0:0:1::2/128/gw/fd01:0:0:1::2',
      'config/vpp/v2/route/if/vrfLink/vrf/0/dst/fd01::/48/gw/fdfe:feed:c0de::2',
      'config/vpp/v2/route/if/vrfLink/vrf/1/dst/::/0/gw/fdfe:feed:c0de::2',
      'config/vpp/v2/route/if/vxlanBVI/vrf/1/dst/fd01:0:0:2::/64/gw/fd04::2',
      'config/vpp/v2/route/if/vxlanBVI/vrf/1/dst/fd02:0:0:2::/64/gw/fd04::2',
      'config/vpp/v2/route/if/vxlanBVI/vrf/1/dst/fd09::6/128/gw/fd04::2',
      'config/vpp/v2/route/vrf/0/dst/fd01::1:ffff:ffff:ffff:fffe/128/gw/::',
      'config/vpp/v2/route/vrf/0/dst/fd02::/48/gw/::',
      'config/vpp/v2/route/vrf/0/dst/fd05::/108/gw/::',
      'config/vpp/v2/route/vrf/0/dst/fd09::6/128/gw/::',
      'config/vpp/v2/route/vrf/0/dst/fdfe:feed:c0de::6/128/gw/::',
      'config/vpp/v2/route/vrf/1/dst/fd01::/48/gw/::',
      'config/vpp/v2/route/vrf/1/dst/fd02:0:0:1::/64/gw/::',
      'config/vpp/v2/route/vrf/1/dst/fd02::/48/gw/::',
      'config/vpp/v2/route/vrf/1/dst/fd05::/108/gw/::',
      'config/vpp/v2/route/vrf/1/dst/fdfe:feed:c0de::/126/gw/::',
      'config/vpp/v2/route/vrf/4294967293/dst/::/0/gw/::',
      'config/vpp/v2/route/vrf/4294967293/dst/fd01::/48/gw/::',
    ]);
    assert.ok(node.config.has('config/vpp/v2/arp/tap-vpp2/fd02:0:0:1::2'));
    assert.ok(node.config.has('config/linux/l3/v2/arp/tap-vpp1/fd02:0:0:1::1'));
    assert.deepEqual(keys(node, 'vrf-table'), [
      'config/vpp/v2/vrf-table/id/0/protocol/IPV4',
      'config/vpp/v2/vrf-table/id/0/protocol/IPV6',
      'config/vpp/v2/vrf-table/id/1/protocol/IPV6',
      'config/vpp/v2/vrf-table/id/4294967293/protocol/IPV6',
    ]);
    const tunnel = node.at<{ vxlan: { dst_address: string } }>(`${VPP_IF}vxlan-default-2`);
    assert.equal(tunnel.vxlan.dst_address, 'fd03::2');
    assert.deepEqual(node.at(`${LINUX_IF}linux-loop-c1`)['ip_addresses'], [
      '127.0.0.1/8',
      '::1/128',
    ]);
    assert.ok(node.config.has('config/linux/l3/v2/route/::/0/linux-tap-c1'));
  });
});
