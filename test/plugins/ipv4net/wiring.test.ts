import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { nicMac } from '#plugins/ipv4net/names.ts';
import { nodeValue, TestNode } from '../test-node.ts';
import { fakeVppWithNics, nonDefaultFields } from './vpp-with.ts';
import { keys, LINUX_IF, startedNode, VPP_IF } from './wired-node.ts';

const overNatLink = {
  type: 'INTRA_VRF',
  outgoing_interface: 'natLink',
  next_hop_addr: '169.254.254.250',
};

describe('wiring of a node with TAP and VXLAN', () => {
  it('is complete', async () => {
    const node = await startedNode();
    const isOfOthers = (key: string) =>
      ['/nat/', '/acls/', '/dst/10.96.0.0/12/'].some((part) => key.includes(part));
    const found = [...node.config.keys()].filter((key) => !isOfOthers(key));
    assert.deepEqual(found.sort(), [
      'config/linux/interfaces/v2/interface/tap-vpp1',
      'config/linux/l3/v2/arp/tap-vpp1/172.30.1.1',
      'config/linux/l3/v2/route/10.1.0.0/16/tap-vpp1',
      'config/vpp/l2/v2/bridge-domain/vxlanBD',
      'config/vpp/l2/v2/fib/vxlanBD/mac/12:2b:00:00:00:02',
      'config/vpp/v2/arp/natLink/169.254.254.250',
      'config/vpp/v2/arp/tap-vpp2/172.30.1.2',
      'config/vpp/v2/arp/vrfLink/169.254.254.254',
      'config/vpp/v2/arp/vxlanBVI/192.168.30.2',
      'config/vpp/v2/interfaces/Gig1',
      'config/vpp/v2/interfaces/natLink',
      'config/vpp/v2/interfaces/podGwLoop',
      'config/vpp/v2/interfaces/tap-vpp2',
      'config/vpp/v2/interfaces/vrfLink',
      'config/vpp/v2/interfaces/vxlan-default-2',
      'config/vpp/v2/interfaces/vxlanBVI',
      'config/vpp/v2/ipscanneigh-global',
      'config/vpp/v2/route/if/natLink/vrf/1/dst/10.1.1.254/32/gw/169.254.254.250',
      'config/vpp/v2/route/if/natLink/vrf/1/dst/172.16.0.5/32/gw/169.254.254.250',
      'config/vpp/v2/route/if/natLink/vrf/1/dst/172.30.1.0/24/gw/169.254.254.250',
      'config/vpp/v2/route/if/tap-vpp2/vrf/0/dst/172.16.0.5/32/gw/172.30.1.2',
      'config/vpp/v2/route/if/tap-vpp2/vrf/0/dst/172.30.1.2/32/gw/172.30.1.2',
      'config/vpp/v2/route/if/tap-vpp2/vrf/4294967290/dst/172.16.0.5/32/gw/172.30.1.2',
      'config/vpp/v2/route/if/tap-vpp2/vrf/4294967291/dst/172.16.0.5/32/gw/172.30.1.2',
      'config/vpp/v2/route/if/vrfLink/vrf/0/dst/10.1.0.0/16/gw/169.254.254.254',
      'config/vpp/v2/route/if/vrfLink/vrf/1/dst/0.0.0.0/0/gw/169.254.254.254',
      'config/vpp/v2/route/if/vxlanBVI/vrf/1/dst/10.1.2.0/24/gw/192.168.30.2',
      'config/vpp/v2/route/if/vxlanBVI/vrf/1/dst/172.16.0.6/32/gw/192.168.30.2',
      'config/vpp/v2/route/if/vxlanBVI/vrf/1/dst/172.30.2.0/24/gw/192.168.30.2',
      'config/vpp/v2/route/vrf/0/dst/172.16.0.6/32/gw/0.0.0.0',
      'config/vpp/v2/route/vrf/0/dst/172.30.0.0/16/gw/0.0.0.0',
      'config/vpp/v2/route/vrf/1/dst/10.1.0.0/16/gw/0.0.0.0',
      'config/vpp/v2/route/vrf/1/dst/169.254.254.252/30/gw/0.0.0.0',
      'config/vpp/v2/route/vrf/1/dst/172.30.0.0/16/gw/0.0.0.0',
      'config/vpp/v2/route/vrf/4294967290/dst/0.0.0.0/0/gw/0.0.0.0',
      'config/vpp/v2/route/vrf/4294967291/dst/0.0.0.0/0/gw/0.0.0.0',
      'config/vpp/v2/route/vrf/4294967292/dst/0.0.0.0/0/gw/0.0.0.0',
      'config/vpp/v2/route/vrf/4294967292/dst/10.1.0.0/16/gw/0.0.0.0',
      'config/vpp/v2/route/vrf/4294967292/dst/10.1.1.254/32/gw/0.0.0.0',
      'config/vpp/v2/route/vrf/4294967293/dst/0.0.0.0/0/gw/0.0.0.0',
      'config/vpp/v2/route/vrf/4294967293/dst/10.1.0.0/16/gw/0.0.0.0',
      'config/vpp/v2/vrf-table/id/0/protocol/IPV4',
      'config/vpp/v2/vrf-table/id/1/protocol/IPV4',
      'config/vpp/v2/vrf-table/id/4294967290/protocol/IPV4',
      'config/vpp/v2/vrf-table/id/4294967291/protocol/IPV4',
      'config/vpp/v2/vrf-table/id/4294967292/protocol/IPV4',
      'config/vpp/v2/vrf-table/id/4294967293/protocol/IPV4',
    ]);
  });

  it('has a main interface with the address of the node', async () => {
    const node = await startedNode();
    assert.deepEqual(nonDefaultFields(node.at(`${VPP_IF}Gig1`)), {
      name: 'Gig1',
      type: 'DPDK',
      enabled: true,
      ip_addresses: ['192.168.16.1/24'],
    });
    assert.equal(node.net.mainInterface(), 'Gig1');
    assert.equal(node.net.nodeAddresses()[0], '192.168.16.1/24');
  });

  it('leads what leaves the pods for the networks outside over a link at which sources are translated', async () => {
    const yaml = `
ipamConfig: {nodeInterconnectCIDR: 192.168.16.0/24, defaultGateway: 192.168.16.100}
nodeConfig: [{nodeName: node-a, otherVPPInterfaces: [{interfaceName: Gig2, ip: 203.0.113.7/24}]}]
`;
    const ways = (node: TestNode) =>
      keys(node, 'edgeLink')
        .filter((key) => !key.includes('nat44'))
        .map((key) => key.split('/v2/')[1]);
    const node = await startedNode({ yaml });
    assert.deepEqual(ways(node), [
      'arp/edgeLink/169.254.254.246',
      'interfaces/edgeLink',
      'route/if/edgeLink/vrf/4294967290/dst/0.0.0.0/0/gw/169.254.254.246',
      'route/if/edgeLink/vrf/4294967293/dst/0.0.0.0/0/gw/169.254.254.246',
    ]);
    const past = ['192.168.16.1/32', '203.0.113.0/24'].map(
      (to) => node.at(`config/vpp/v2/route/vrf/4294967293/dst/${to}/gw/0.0.0.0`)['via_vrf_id'],
    );
    assert.deepEqual(past, [0, 0]);
    assert.equal(
      node.at('config/vpp/v2/route/vrf/0/dst/169.254.254.246/32/gw/0.0.0.0')['type'],
      'DROP',
    );
    for (const change of ['natExternalTraffic: false', 'nodeToNodeTransport: nooverlay'])
      assert.deepEqual(ways(await startedNode({ yaml: `${change}\n${yaml}` }, [])), [], change);
  });

  it('says RX modes only where they are asked for', async () => {
    const plain = await startedNode();
    assert.deepEqual(plain.at(`${VPP_IF}tap-vpp2`)['rx_modes'], []);
    const node = await startedNode({
      yaml: 'interfaceRxMode: adaptive\nipamConfig: {nodeInterconnectCIDR: 192.168.16.0/24}',
    });
    await node.add('web', 'c1');
    for (const name of ['Gig1', 'tap-vpp2', 'vpp-tap-c1'])
      assert.deepEqual(node.at(`${VPP_IF}${name}`)['rx_modes'], [
        { queue: 0, mode: 'ADAPTIVE', default_mode: true },
      ]);
  });

  it('makes a main interface that is bound to a link of the kernel', async () => {
    const yaml = `
ipamConfig: {nodeInterconnectCIDR: 192.168.16.0/24}
nodeConfig: [{nodeName: node-a, mainVPPInterface: {interfaceName: host-eth1}}]
`;
    const node = await startedNode({ yaml });
    assert.deepEqual(nonDefaultFields(node.at(`${VPP_IF}host-eth1`)), {
      name: 'host-eth1',
      type: 'AF_PACKET',
      enabled: true,
      phys_address: nicMac(1, 'host-eth1'),
      ip_addresses: ['192.168.16.1/24'],
      afpacket: { host_if_name: 'eth1', linux_interface: '' },
    });
    assert.equal(node.net.mainInterface(), 'host-eth1');
  });

  it('enables packet trace if configured, and continues if that fails', async () => {
    const node = await startedNode({ yaml: 'enablePacketTrace: true' });
    assert.equal(node.vpp.traces, 1);
    await node.heal();
    assert.equal(node.vpp.traces, 2);
    node.vpp.failing = new Error('gone');
    assert.equal((await node.heal()).error, undefined);
    assert.equal((await startedNode()).vpp.traces, 0);
  });

  it('uses a loopback where there is no NIC', async () => {
    const node = await startedNode({
      vpp: fakeVppWithNics(),
      yaml: 'ipamConfig: {nodeInterconnectCIDR: 192.168.16.0/24, defaultGateway: 192.168.16.100}',
    });
    assert.deepEqual(nonDefaultFields(node.at(`${VPP_IF}loopbackNIC`)), {
      name: 'loopbackNIC',
      type: 'SOFTWARE_LOOPBACK',
      enabled: true,
      ip_addresses: ['192.168.16.1/24'],
    });
    assert.equal(node.net.mainInterface(), 'loopbackNIC');
    assert.deepEqual(keys(node, 'gw/192.168.16.100'), []);
  });

  it('links host and VPP', async () => {
    const yaml = `
mtuSize: 1450
tapv2RxRingSize: 256
tapv2TxRingSize: 512
enableGSO: true
routeServiceCIDRToVPP: true
ipamConfig: {nodeInterconnectCIDR: 192.168.16.0/24}
`;
    const node = await startedNode({ yaml });
    assert.deepEqual(nonDefaultFields(node.at(`${VPP_IF}tap-vpp2`)), {
      name: 'tap-vpp2',
      type: 'TAP',
      enabled: true,
      mtu: 1450,
      phys_address: '34:3c:00:00:00:01',
      ip_addresses: ['172.30.1.1/24'],
      tap: {
        version: 2,
        host_if_name: '',
        to_microservice: '',
        rx_ring_size: 256,
        tx_ring_size: 512,
        enable_gso: true,
        enable_tunnel: false,
        host_namespace: '',
      },
    });
    assert.deepEqual(nonDefaultFields(node.at(`${LINUX_IF}tap-vpp1`)), {
      name: 'tap-vpp1',
      type: 'TAP_TO_VPP',
      host_if_name: 'vpp1',
      enabled: true,
      mtu: 1450,
      phys_address: '36:3c:00:00:00:01',
      ip_addresses: ['172.30.1.2/24'],
      tap: { vpp_tap_if_name: 'tap-vpp2' },
    });
    // VPP drops packets while it resolves an address, and does not answer every request of the host
    assert.deepEqual(nonDefaultFields(node.at('config/vpp/v2/arp/tap-vpp2/172.30.1.2')), {
      interface: 'tap-vpp2',
      ip_address: '172.30.1.2',
      phys_address: '36:3c:00:00:00:01',
      static: true,
    });
    assert.deepEqual(nonDefaultFields(node.at('config/linux/l3/v2/arp/tap-vpp1/172.30.1.1')), {
      interface: 'tap-vpp1',
      ip_address: '172.30.1.1',
      hw_address: '34:3c:00:00:00:01',
    });
    for (const network of ['10.1.0.0/16', '10.96.0.0/12'])
      assert.deepEqual(nonDefaultFields(node.at(`config/linux/l3/v2/route/${network}/tap-vpp1`)), {
        outgoing_interface: 'tap-vpp1',
        scope: 'GLOBAL',
        dst_network: network,
        gw_addr: '172.30.1.1',
      });
  });

  it('routes to the own addresses of the host, not to those of bridges and of VPP', async () => {
    const node = new TestNode();
    const link = (name: string, ...addresses: string[]) => ({ name, mtu: 1500, addresses });
    node.host.hostLinks = [
      link('ens3', '172.16.0.9/24', '172.16.0.5/24', 'fd00::5/64'),
      link('ens4', '172.16.0.5/24'),
      link('lo', '127.0.0.1/8'),
      link('docker0', '172.17.0.1/16'),
      link('virbr0', '192.168.122.1/24'),
      link('vpp1', '172.30.1.2/24'),
    ];
    await node.resync();
    assert.deepEqual(node.net.hostAddresses(), ['172.16.0.5', '172.16.0.9']);
    assert.deepEqual(keys(node, 'if/tap-vpp2'), [
      'config/vpp/v2/route/if/tap-vpp2/vrf/0/dst/172.16.0.5/32/gw/172.30.1.2',
      'config/vpp/v2/route/if/tap-vpp2/vrf/0/dst/172.16.0.9/32/gw/172.30.1.2',
      'config/vpp/v2/route/if/tap-vpp2/vrf/0/dst/172.30.1.2/32/gw/172.30.1.2',
      'config/vpp/v2/route/if/tap-vpp2/vrf/4294967290/dst/172.16.0.5/32/gw/172.30.1.2',
      'config/vpp/v2/route/if/tap-vpp2/vrf/4294967290/dst/172.16.0.9/32/gw/172.30.1.2',
      'config/vpp/v2/route/if/tap-vpp2/vrf/4294967291/dst/172.16.0.5/32/gw/172.30.1.2',
      'config/vpp/v2/route/if/tap-vpp2/vrf/4294967291/dst/172.16.0.9/32/gw/172.30.1.2',
    ]);
  });

  it('does not take the addresses of services for those of the host', async () => {
    const node = new TestNode();
    const link = (name: string, ...addresses: string[]) => ({ name, mtu: 1500, addresses });
    node.host.hostLinks = [
      // a NIC in a network that overlaps the service subnet
      link('ens3', '10.100.0.5/24'),
      // kube-proxy in IPVS mode, with an external address
      link('kube-ipvs0', '10.96.0.1/32', '10.96.0.10/32', '203.0.113.7/32'),
      link('nodelocaldns', '169.254.20.10/32', '10.96.0.10/32'),
    ];
    await node.resync();
    assert.deepEqual(node.net.hostAddresses(), ['10.100.0.5', '169.254.20.10']);
    node.host.hostLinks.push(link('ens4', '172.16.0.9/24', '10.96.0.11/32'));
    await node.put(nodeValue('node-a', '172.16.0.9'));
    assert.deepEqual(node.net.hostAddresses(), ['10.100.0.5', '169.254.20.10', '172.16.0.9']);
  });

  it('routes the addresses of the host out of the table of the pods, so that a node port takes none', async () => {
    const node = new TestNode();
    node.host.hostLinks = [
      { name: 'ens3', mtu: 1500, addresses: ['172.16.0.5/24', '172.16.0.9/24'] },
    ];
    await node.resync();
    for (const dst_network of ['172.16.0.5/32', '172.16.0.9/32'])
      assert.deepEqual(
        nonDefaultFields(
          node.at(`config/vpp/v2/route/if/natLink/vrf/1/dst/${dst_network}/gw/169.254.254.250`),
        ),
        { ...overNatLink, vrf_id: 1, dst_network },
      );
  });

  it('routes between the VRFs, and drops packets to removed networks', async () => {
    const node = await startedNode();
    const route = (rest: string) =>
      nonDefaultFields(node.at(`config/vpp/v2/route/vrf/${rest}/gw/0.0.0.0`));
    const inter = { type: 'INTER_VRF', next_hop_addr: '0.0.0.0' };
    const linkVrf = 4_294_967_293;
    assert.deepEqual(route(`${linkVrf}/dst/10.1.0.0/16`), {
      ...inter,
      vrf_id: linkVrf,
      dst_network: '10.1.0.0/16',
      via_vrf_id: 1,
    });
    assert.deepEqual(route(`${linkVrf}/dst/0.0.0.0/0`), {
      ...inter,
      vrf_id: linkVrf,
      dst_network: '0.0.0.0/0',
    });
    const throughLink = (vrf: number, network: string) =>
      nonDefaultFields(
        node.at(`config/vpp/v2/route/if/vrfLink/vrf/${vrf}/dst/${network}/gw/169.254.254.254`),
      );
    const link = {
      type: 'INTRA_VRF',
      outgoing_interface: 'vrfLink',
      next_hop_addr: '169.254.254.254',
    };
    assert.deepEqual(throughLink(0, '10.1.0.0/16'), { ...link, dst_network: '10.1.0.0/16' });
    assert.deepEqual(throughLink(1, '0.0.0.0/0'), { ...link, vrf_id: 1, dst_network: '0.0.0.0/0' });
    for (const dst_network of ['172.30.1.0/24', '10.1.1.254/32'])
      assert.deepEqual(
        nonDefaultFields(
          node.at(`config/vpp/v2/route/if/natLink/vrf/1/dst/${dst_network}/gw/169.254.254.250`),
        ),
        { ...overNatLink, vrf_id: 1, dst_network },
      );
    const natVrf = 4_294_967_292;
    const hostVrf = 4_294_967_291;
    assert.deepEqual(route(`${natVrf}/dst/0.0.0.0/0`), {
      type: 'SOURCE_VRF',
      next_hop_addr: '0.0.0.0',
      vrf_id: natVrf,
      dst_network: '0.0.0.0/0',
      via_vrf_id: hostVrf,
    });
    assert.deepEqual(route(`${hostVrf}/dst/0.0.0.0/0`), {
      ...inter,
      vrf_id: hostVrf,
      dst_network: '0.0.0.0/0',
    });
    assert.deepEqual(route(`${natVrf}/dst/10.1.0.0/16`), {
      ...inter,
      vrf_id: natVrf,
      dst_network: '10.1.0.0/16',
      via_vrf_id: 1,
    });
    // what has no session would come in by the link again
    assert.equal(route(`${natVrf}/dst/10.1.1.254/32`)['type'], 'DROP');
    assert.deepEqual(route('1/dst/172.30.0.0/16'), {
      type: 'DROP',
      vrf_id: 1,
      dst_network: '172.30.0.0/16',
      next_hop_addr: '0.0.0.0',
    });
    assert.equal(node.at('config/vpp/v2/vrf-table/id/1/protocol/IPV4')['label'], 'podVRF-IPv4');
    assert.deepEqual(node.at(`${VPP_IF}podGwLoop`)['ip_addresses'], ['10.1.1.1/24']);
    assert.deepEqual(nonDefaultFields(node.at('config/vpp/v2/ipscanneigh-global')), {
      mode: 'IPV4',
      scan_interval: 1,
      stale_threshold: 4,
    });
  });

  it('reaches another node through a tunnel', async () => {
    const node = await startedNode();
    assert.deepEqual(nonDefaultFields(node.at(`${VPP_IF}vxlan-default-2`)), {
      name: 'vxlan-default-2',
      type: 'VXLAN_TUNNEL',
      enabled: true,
      vxlan: { src_address: '192.168.16.1', dst_address: '192.168.16.2', vni: 10, multicast: '' },
    });
    assert.deepEqual(nonDefaultFields(node.at(`${VPP_IF}vxlanBVI`)), {
      name: 'vxlanBVI',
      type: 'SOFTWARE_LOOPBACK',
      enabled: true,
      vrf: 1,
      phys_address: '12:2b:00:00:00:01',
      ip_addresses: ['192.168.30.1/24'],
      mtu: 1400,
    });
    assert.deepEqual(nonDefaultFields(node.at('config/vpp/l2/v2/bridge-domain/vxlanBD')), {
      name: 'vxlanBD',
      forward: true,
      interfaces: [
        { name: 'vxlan-default-2', bridged_virtual_interface: false, split_horizon_group: 1 },
        { name: 'vxlanBVI', bridged_virtual_interface: true, split_horizon_group: 1 },
      ],
    });
    assert.deepEqual(
      nonDefaultFields(node.at('config/vpp/l2/v2/fib/vxlanBD/mac/12:2b:00:00:00:02')),
      {
        phys_address: '12:2b:00:00:00:02',
        bridge_domain: 'vxlanBD',
        action: 'FORWARD',
        outgoing_interface: 'vxlan-default-2',
        static_config: true,
      },
    );
    assert.deepEqual(nonDefaultFields(node.at('config/vpp/v2/arp/vxlanBVI/192.168.30.2')), {
      interface: 'vxlanBVI',
      ip_address: '192.168.30.2',
      phys_address: '12:2b:00:00:00:02',
      static: true,
    });
  });

  it('takes addresses and gateway from the configuration of the node', async () => {
    const yaml = `
ipamConfig: {nodeInterconnectCIDR: 192.168.16.0/24}
nodeConfig:
- nodeName: node-a
  mainVPPInterface: {interfaceName: Gig2, ip: 10.10.0.1/24}
  otherVPPInterfaces: [{interfaceName: Gig1, ip: 10.11.0.1/24}, {interfaceName: Gig3, useDHCP: true}]
  gateway: 10.10.0.254
`;
    const node = await startedNode({ yaml });
    assert.deepEqual(node.at(`${VPP_IF}Gig2`)['ip_addresses'], ['10.10.0.1/24']);
    assert.deepEqual(node.at(`${VPP_IF}Gig1`)['ip_addresses'], ['10.11.0.1/24']);
    assert.equal(node.at(`${VPP_IF}Gig3`)['set_dhcp_client'], true);
    assert.ok(node.at('config/vpp/v2/route/if/Gig2/vrf/0/dst/0.0.0.0/0/gw/10.10.0.254'));
    assert.deepEqual(node.net.otherInterfaces(), ['Gig1', 'Gig3']);
    const record = await node.clusterStore.get('/vnf-agent/contiv-ksr/allocatedIDs/1');
    assert.deepEqual(JSON.parse(record!).ip_addresses, ['10.10.0.1/24']);
    assert.equal(
      node.at<{ vxlan: { src_address: string } }>(`${VPP_IF}vxlan-default-2`).vxlan.src_address,
      '10.10.0.1',
    );
  });

  it('announces no address and builds no tunnel as long as DHCP has given none', async () => {
    const node = await startedNode({ yaml: 'ipamConfig: {nodeInterconnectDHCP: true}' });
    assert.equal(node.at(`${VPP_IF}Gig1`)['set_dhcp_client'], true);
    assert.equal(node.net.nodeAddresses()[0], undefined);
    assert.deepEqual(keys(node, 'vxlan-default'), [
      // only the bridge domain's own interface is there
    ]);
    assert.ok(node.config.has(`${VPP_IF}vxlanBVI`));
  });
});
