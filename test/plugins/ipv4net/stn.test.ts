import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { FakeStn } from '../fake-ports.ts';
import { nodeValue, TestNode, vppNodeValue } from '../test-node.ts';
import { fakeVppWithNics, nonDefaultFields } from './vpp-with.ts';
import { LINUX_IF, VPP_IF } from './wired-node.ts';

const stolen = {
  pciAddress: '0000:0b:00.0',
  kernelDriver: 'e1000',
  addresses: ['10.20.0.5/24', 'fd00::5/64'],
  routes: [
    { destination: '', gateway: '10.20.0.1' },
    { destination: '10.99.0.0/16', gateway: '10.20.0.9' },
    { destination: '', gateway: 'fd00::1' },
  ],
};
const nodeB = [
  vppNodeValue(2, 'node-b', '10.20.0.6/24'),
  nodeValue('node-b', '10.20.0.6', '10.77.0.6'),
];

async function taken(yaml: string, is = stolen): Promise<TestNode> {
  const stn = new FakeStn();
  stn.stolen.set('eth1', is);
  const node = new TestNode({ yaml, stn, vpp: fakeVppWithNics('Gig1') });
  // the host has nothing left but what VPP gives it
  node.host.hostLinks = [{ name: 'vpp1', mtu: 1450, addresses: ['10.20.0.5/24'] }];
  const { error } = await node.resync([nodeValue('node-a', '10.20.0.5'), ...nodeB]);
  assert.equal(error, undefined);
  return node;
}

const some = (node: TestNode, ...parts: string[]) =>
  [...node.config.keys()].filter((key) => parts.some((one) => key.includes(one))).sort();

describe('wiring of a node whose only NIC VPP took over', () => {
  it('shares the address of the node between VPP and host', async () => {
    const node = await taken('stealInterface: eth1\nenableGSO: true');
    assert.deepEqual(node.at(`${VPP_IF}Gig1`)['ip_addresses'], ['10.20.0.5/24']);
    const vppSide = nonDefaultFields(node.at(`${VPP_IF}tap-vpp2`));
    assert.deepEqual(vppSide['unnumbered'], { interface_with_ip: 'Gig1' });
    assert.equal('ip_addresses' in vppSide, false);
    assert.equal((vppSide['tap'] as { enable_gso: boolean }).enable_gso, false);
    const host = nonDefaultFields(node.at(`${LINUX_IF}tap-vpp1`));
    assert.deepEqual(host['ip_addresses'], ['10.20.0.5/24']);
    assert.equal(host['phys_address'], '00:00:00:00:00:02');
    assert.equal(node.net.nodeAddresses()[0], '10.20.0.5/24');
    const record = await node.clusterStore.get('/vnf-agent/contiv-ksr/allocatedIDs/1');
    assert.deepEqual(JSON.parse(record!).ip_addresses, ['10.20.0.5/24']);
    // VPP segments what pods send to the host; GSO stays on for the pods
    assert.ok(node.at('config/vpp/gso/v2/interface/tap-vpp2'));
    await node.add('web', 'c1');
    const pod = node.at<{ tap: { enable_gso: boolean } }>(`${VPP_IF}vpp-tap-c1`);
    assert.equal(pod.tap.enable_gso, true);
  });

  it('hands over by an STN rule in version 1', async () => {
    const node = await taken('stealInterface: eth1');
    assert.deepEqual(nonDefaultFields(node.at('config/vpp/stn/v2/rule/tap-vpp2/ip/10.20.0.5')), {
      ip_address: '10.20.0.5',
      interface: 'tap-vpp2',
    });
    assert.deepEqual(some(node, 'ipredirect'), []);
  });

  it('hands over by a redirected punt in version 2', async () => {
    const node = await taken('stealInterface: eth1\nstnVersion: 2');
    assert.deepEqual(nonDefaultFields(node.at('config/vpp/v2/ipredirect/l3/ALL/tx/tap-vpp2')), {
      l3_protocol: 'ALL',
      tx_interface: 'tap-vpp2',
      next_hop: '10.20.0.5',
    });
    assert.deepEqual(some(node, '/stn/'), []);
  });

  it('answers the host for everybody, and knows where the host is', async () => {
    const node = await taken('stealInterface: eth1');
    assert.deepEqual(nonDefaultFields(node.at('config/vpp/v2/proxyarp-global')), {
      interfaces: [{ name: 'tap-vpp2' }],
      ranges: [{ first_ip_addr: '10.20.0.1', last_ip_addr: '10.20.0.254', vrf_id: 0 }],
    });
    assert.deepEqual(nonDefaultFields(node.at('config/vpp/v2/arp/tap-vpp2/10.20.0.5')), {
      interface: 'tap-vpp2',
      ip_address: '10.20.0.5',
      phys_address: '00:00:00:00:00:02',
      static: true,
    });
  });

  it('makes the routes of the host again, in VPP and in the host', async () => {
    const node = await taken('stealInterface: eth1\nrouteServiceCIDRToVPP: true');
    assert.deepEqual(some(node, 'if/Gig1'), [
      'config/vpp/v2/route/if/Gig1/vrf/0/dst/0.0.0.0/0/gw/10.20.0.1',
      'config/vpp/v2/route/if/Gig1/vrf/0/dst/10.99.0.0/16/gw/10.20.0.9',
    ]);
    const routes = some(node, 'config/linux/l3/v2/route/');
    assert.deepEqual(routes, [
      'config/linux/l3/v2/route/0.0.0.0/0/tap-vpp1',
      'config/linux/l3/v2/route/10.1.0.0/16/tap-vpp1',
      'config/linux/l3/v2/route/10.96.0.0/12/tap-vpp1',
      'config/linux/l3/v2/route/10.99.0.0/16/tap-vpp1',
    ]);
    for (const route of routes) assert.equal(node.at(route)['gw_addr'], '10.20.0.1', route);
  });

  it('gives the host and VPP a route to a gateway outside of the network', async () => {
    const node = await taken('stealInterface: eth1', { ...stolen, addresses: ['10.20.0.5/32'] });
    // VPP has a host without a next hop as attached, and accepts its ARP replies.
    assert.ok(node.config.has('config/vpp/v2/route/if/Gig1/vrf/0/dst/10.20.0.1/32'));
    assert.deepEqual(nonDefaultFields(node.at('config/linux/l3/v2/route/10.20.0.1/32/tap-vpp1')), {
      outgoing_interface: 'tap-vpp1',
      scope: 'LINK',
      dst_network: '10.20.0.1/32',
    });
    assert.deepEqual(node.at('config/vpp/v2/proxyarp-global')['ranges'], [
      { first_ip_addr: '10.20.0.1', last_ip_addr: '10.20.0.1', vrf_id: 0 },
      { first_ip_addr: '10.20.0.5', last_ip_addr: '10.20.0.5', vrf_id: 0 },
      { first_ip_addr: '10.20.0.9', last_ip_addr: '10.20.0.9', vrf_id: 0 },
    ]);
  });

  it('does not send what is for other hosts into the VRF of the pods', async () => {
    const node = await taken('stealInterface: eth1');
    assert.deepEqual(some(node, 'vrf/0/dst/10.77.0.6', 'vrf/0/dst/10.20.0.6'), []);
    assert.ok(
      node.config.has('config/vpp/v2/route/if/vxlanBVI/vrf/1/dst/10.77.0.6/32/gw/192.168.30.2'),
    );
  });

  it('is the same with VETH', async () => {
    const node = await taken('stealInterface: eth1\nuseTAPInterfaces: false');
    assert.equal(node.at(`${LINUX_IF}veth-vpp1`)['phys_address'], '00:00:00:00:00:02');
    assert.deepEqual(node.at(`${LINUX_IF}veth-vpp1`)['ip_addresses'], ['10.20.0.5/24']);
    assert.deepEqual(node.at(`${VPP_IF}afpacket-vpp2`)['unnumbered'], {
      interface_with_ip: 'Gig1',
    });
    assert.ok(node.config.has('config/vpp/stn/v2/rule/afpacket-vpp2/ip/10.20.0.5'));
    assert.ok(node.config.has('config/linux/l3/v2/route/10.99.0.0/16/veth-vpp1'));
  });

  it('in IPv6 configures the gateway as a static neighbor of the host', async () => {
    const yaml = `
stealInterface: eth1
useTAPInterfaces: false
ipamConfig: {podSubnetCIDR: "fd01::/48", podSubnetOneNodePrefixLen: 64, vppHostSubnetCIDR: "fd02::/48",
  vppHostSubnetOneNodePrefixLen: 64, vxlanCIDR: "fd04::/64", serviceCIDR: "fd05::/108"}
`;
    const node = await taken(yaml);
    assert.deepEqual(node.at(`${LINUX_IF}veth-vpp1`)['ip_addresses'], ['fd00::5/127']);
    assert.deepEqual(nonDefaultFields(node.at('config/linux/l3/v2/arp/veth-vpp1/fd00::4')), {
      interface: 'veth-vpp1',
      ip_address: 'fd00::4',
      hw_address: '34:3c:00:00:00:01',
    });
    for (const network of ['fd00::/64', 'fd01::/48', '::/0'])
      assert.equal(node.at(`config/linux/l3/v2/route/${network}/veth-vpp1`)['gw_addr'], 'fd00::4');
    assert.deepEqual(some(node, 'proxyarp'), []);
    assert.ok(node.config.has('config/vpp/v2/route/if/Gig1/vrf/0/dst/::/0/gw/fd00::1'));
  });

  it('shares the addresses of both families, with either one first', async () => {
    const networks = {
      podSubnetCIDR: ['10.1.0.0/16', 'fd01::/48'],
      vppHostSubnetCIDR: ['172.30.0.0/16', 'fd02::/48'],
      vxlanCIDR: ['192.168.30.0/24', 'fd04::/64'],
      serviceCIDR: ['10.96.0.0/12', 'fd05::/108'],
    };
    const yaml = (order: (texts: string[]) => string[]) =>
      JSON.stringify({
        stealInterface: 'eth1',
        stnVersion: 2,
        routeServiceCIDRToVPP: true,
        ipamConfig: Object.fromEntries(
          Object.entries(networks).map(([key, texts]) => [key, order(texts).join(',')]),
        ),
      });
    const is = {
      ...stolen,
      routes: [...stolen.routes, { destination: 'fd77::/64', gateway: 'fe80::9' }],
    };
    const four = await taken(
      yaml((texts) => texts),
      is,
    );
    const six = await taken(
      yaml((texts) => texts.toReversed()),
      is,
    );
    assert.deepEqual(four.at(`${VPP_IF}Gig1`)['ip_addresses'], ['10.20.0.5/24', 'fd00::5/64']);
    assert.deepEqual(six.at(`${VPP_IF}Gig1`)['ip_addresses'], ['fd00::5/64', '10.20.0.5/24']);
    for (const node of [four, six]) {
      const host = node.at<{ ip_addresses: string[] }>(`${LINUX_IF}tap-vpp1`).ip_addresses;
      assert.deepEqual([...host].sort(), ['10.20.0.5/24', 'fd00::5/127']);
      assert.deepEqual(some(node, 'if/Gig1'), [
        'config/vpp/v2/route/if/Gig1/vrf/0/dst/0.0.0.0/0/gw/10.20.0.1',
        'config/vpp/v2/route/if/Gig1/vrf/0/dst/10.99.0.0/16/gw/10.20.0.9',
        'config/vpp/v2/route/if/Gig1/vrf/0/dst/::/0/gw/fd00::1',
        'config/vpp/v2/route/if/Gig1/vrf/0/dst/fd77::/64/gw/fe80::9',
      ]);
      const gateways = { 'fd00::4': ['::/0', 'fd00::/64', 'fd01::/48', 'fd05::/108', 'fd77::/64'] };
      for (const [gateway, destinations] of Object.entries({
        ...gateways,
        '10.20.0.1': ['0.0.0.0/0', '10.1.0.0/16', '10.96.0.0/12', '10.99.0.0/16'],
      }))
        for (const to of destinations)
          assert.equal(node.at(`config/linux/l3/v2/route/${to}/tap-vpp1`)['gw_addr'], gateway, to);
      assert.ok(node.config.has('config/linux/l3/v2/arp/tap-vpp1/fd00::4'));
      for (const own of ['10.20.0.5', 'fd00::5'])
        assert.ok(node.config.has(`config/vpp/v2/arp/tap-vpp2/${own}`));
      assert.equal(node.net.uplink(4)?.address, '10.20.0.5');
    }
    const punts = (node: TestNode) =>
      some(node, 'ipredirect').map((key) => [key.split('/')[5], node.at(key)['next_hop']]);
    assert.deepEqual(punts(four), [
      ['ALL', '10.20.0.5'],
      ['IPV6', 'fd00::5'],
    ]);
    assert.deepEqual(punts(six), [
      ['ALL', 'fd00::5'],
      ['IPV4', '10.20.0.5'],
    ]);
    // the NIC had none of IPv6: a configured one takes its place, else the host is not reached by it
    const lacking = { ...is, addresses: ['10.20.0.5/24'], routes: is.routes.slice(0, 2) };
    const without = await taken(
      yaml((texts) => texts),
      lacking,
    );
    assert.deepEqual(without.at(`${LINUX_IF}tap-vpp1`)['ip_addresses'], ['10.20.0.5/24']);
    assert.deepEqual(
      some(without, 'linux/l3').filter((key) => key.includes('::')),
      [],
    );
    const section = { nodeName: 'node-a', mainVPPInterface: { ip: 'fd00::7/64,10.0.0.7/24' } };
    const configured = { ...JSON.parse(yaml((texts) => texts)), nodeConfig: [section] };
    const given = await taken(JSON.stringify(configured), lacking);
    assert.deepEqual(given.net.nodeAddresses(), ['10.20.0.5/24', 'fd00::7/64']);
  });

  it('waits for DHCP with all that needs an address', async () => {
    const yaml = 'stealInterface: eth1\nipamConfig: {nodeInterconnectDHCP: true}';
    const node = await taken(yaml, { ...stolen, routes: [] });
    assert.deepEqual(some(node, '/stn/', 'proxyarp', 'config/linux/l3'), []);
    assert.deepEqual(node.at(`${LINUX_IF}tap-vpp1`)['ip_addresses'], []);
    node.vpp.dhcp = [{ interfaceName: 'Gig1', address: '10.20.0.7/24', router: '10.20.0.1' }];
    await node.heal();
    assert.deepEqual(some(node, '/stn/', 'config/linux/l3'), [
      'config/linux/l3/v2/route/10.1.0.0/16/tap-vpp1',
      'config/vpp/stn/v2/rule/tap-vpp2/ip/10.20.0.7',
    ]);
  });
});
