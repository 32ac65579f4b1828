import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { podLinkNames } from '#plugins/ipv4net/names.ts';
import { FakeHost } from '../fake-ports.ts';
import { sorted } from '../test-node.ts';
import { fakeVppWithNics, nonDefaultFields } from './vpp-with.ts';
import { keys, LINUX_IF, startedNode, VPP_IF } from './wired-node.ts';

describe('wiring of a pod', () => {
  it('is complete', async () => {
    const node = await startedNode();
    const { txn, replies } = await node.add('web', 'c1');
    const namespace = { type: 'FD', reference: '/run/netns/c1' };
    const values = Object.fromEntries(
      [...txn.values].map(([key, value]) => [key, nonDefaultFields(value!)]),
    );
    assert.deepEqual(values, {
      'config/vpp/nat/v2/nat44-interface/vpp-tap-c1': {
        name: 'vpp-tap-c1',
        nat_inside: true,
        classify: true,
      },
      [`${LINUX_IF}linux-loop-c1`]: {
        name: 'linux-loop-c1',
        type: 'LOOPBACK',
        namespace,
        enabled: true,
        ip_addresses: ['127.0.0.1/8'],
      },
      [`${VPP_IF}vpp-tap-c1`]: {
        name: 'vpp-tap-c1',
        type: 'TAP',
        enabled: true,
        mtu: 1400,
        vrf: 1,
        phys_address: '02:fe:bd:6f:14:b0',
        unnumbered: { interface_with_ip: 'podGwLoop' },
        tap: {
          version: 2,
          host_if_name: '',
          to_microservice: '',
          rx_ring_size: 0,
          tx_ring_size: 0,
          enable_gso: false,
          enable_tunnel: false,
          host_namespace: '/run/netns/c1',
        },
      },
      [`${LINUX_IF}linux-tap-c1`]: {
        name: 'linux-tap-c1',
        type: 'TAP_TO_VPP',
        namespace,
        host_if_name: 'eth0',
        enabled: true,
        mtu: 1400,
        ip_addresses: ['10.1.1.2/32'],
        phys_address: '02:fe:42:90:eb:4f',
        tap: { vpp_tap_if_name: 'vpp-tap-c1' },
      },
      'config/linux/l3/v2/arp/linux-tap-c1/10.1.1.1': {
        interface: 'linux-tap-c1',
        ip_address: '10.1.1.1',
        hw_address: '02:fe:bd:6f:14:b0',
      },
      'config/linux/l3/v2/route/10.1.1.1/32/linux-tap-c1': {
        outgoing_interface: 'linux-tap-c1',
        scope: 'LINK',
        dst_network: '10.1.1.1/32',
      },
      'config/linux/l3/v2/route/0.0.0.0/0/linux-tap-c1': {
        outgoing_interface: 'linux-tap-c1',
        scope: 'GLOBAL',
        dst_network: '0.0.0.0/0',
        gw_addr: '10.1.1.1',
      },
      'config/vpp/v2/arp/vpp-tap-c1/10.1.1.2': {
        interface: 'vpp-tap-c1',
        ip_address: '10.1.1.2',
        phys_address: '02:fe:42:90:eb:4f',
        static: true,
      },
      'config/vpp/v2/route/if/vpp-tap-c1/vrf/1/dst/10.1.1.2/32/gw/10.1.1.2': {
        type: 'INTRA_VRF',
        vrf_id: 1,
        dst_network: '10.1.1.2/32',
        next_hop_addr: '10.1.1.2',
        outgoing_interface: 'vpp-tap-c1',
      },
    });
    assert.deepEqual(replies, [
      {
        interfaces: [
          {
            name: 'eth0',
            mac: '02:fe:42:90:eb:4f',
            sandbox: '/run/netns/c1',
            addresses: [{ family: 4, address: '10.1.1.2/32', gateway: '10.1.1.1' }],
          },
        ],
        routes: [{ destination: '0.0.0.0/0', gateway: '10.1.1.1' }],
      },
    ]);
  });

  it('switches IPv6 on inside where the kernel has it, and fails if that fails', async () => {
    const host = new FakeHost();
    host.ipv6 = true;
    const node = await startedNode({ host });
    await node.add('web', 'c1');
    assert.deepEqual(host.withIpv6, ['/run/netns/c1']);
    assert.deepEqual(node.at(`${LINUX_IF}linux-loop-c1`)['ip_addresses'], [
      '127.0.0.1/8',
      '::1/128',
    ]);
    assert.match((await node.add('db', 'bad')).error!.message, /no such sysctl/);
    assert.equal(node.pods.attachments().size, 1);
    assert.deepEqual(keys(node, 'bad'), []);
  });

  it('is put once more by a repeated Add Pod, so that the answer is about the present', async () => {
    const node = await startedNode();
    const first = await node.add('web', 'c1');
    const second = await node.add('web', 'c1');
    assert.deepEqual([...second.txn.values], [...first.txn.values]);
  });

  it('is known by the interface of VPP', async () => {
    const node = await startedNode();
    await node.add('web', 'c1');
    assert.equal(node.net.podByInterface('vpp-tap-c1')!.pod.name, 'web');
    await node.del('web', 'c1');
    assert.equal(node.net.podByInterface('vpp-tap-c1'), undefined);
    assert.equal(node.net.podInterfaces('c1/eth0'), undefined);
    assert.deepEqual(keys(node, 'c1'), []);
  });

  it('is refused if its names are those of another container, and leaves nothing', async () => {
    for (const yaml of ['mtuSize: 1400', 'useTAPInterfaces: false']) {
      const node = await startedNode({ yaml });
      const id = (length: number, end: string) => 'a'.repeat(length) + end;
      // the loopback has the longest prefix of the names of a TAP
      for (const [length, interfaceName] of [
        [57, 'eth0'],
        [53, 'eth0'],
        [52, 'net1'],
      ] as const) {
        assert.equal((await node.add('web', id(length, '1'))).error, undefined);
        const before = sorted(node.config);
        const { error } = await node.add('db', id(length, '2'), interfaceName);
        assert.match(error!.message, /would have the names of those of default\/web, a+1\/eth0$/);
        assert.deepEqual([...node.pods.attachments().keys()], [`${id(length, '1')}/eth0`]);
        assert.equal(node.ipam.allocations().size, 1);
        assert.deepEqual(sorted(node.config), before);
        assert.equal((await node.del('db', id(length, '2'), interfaceName)).error, undefined);
        assert.deepEqual(sorted(node.config), before);
        await node.del('web', id(length, '1'));
        const { error: alone } = await node.add('db', id(length, '2'), interfaceName);
        assert.equal(alone, undefined);
        await node.del('db', id(length, '2'), interfaceName);
      }
    }
  });

  it('is not refused for another interface of the container, or a repeated Add Pod', async () => {
    const node = await startedNode();
    const container = 'a'.repeat(64);
    for (const interfaceName of ['eth0', 'net1', 'eth0'])
      assert.equal((await node.add('web', container, interfaceName)).error, undefined);
    assert.equal(node.pods.attachments().size, 2);
  });

  it('is not refused for another interface of a container of which the agent knows the beginning', async () => {
    const containerId = 'a1'.repeat(32);
    const { vpp: tag, linux } = podLinkNames({ containerId, interfaceName: 'eth0' }, true);
    const vpp = fakeVppWithNics('Gig1');
    vpp.nics.push({ swIfIndex: 9, internalName: 'tap9', deviceType: 'virtio', tag, mtu: 1500 });
    const host = new FakeHost();
    const link = {
      namespace: `/run/netns/${containerId}`,
      namespaceIdentity: { device: 4, inode: 5 },
      name: 'eth0',
      logicalName: linux,
      otherEnd: tag,
      mac: '02:fe:00:00:00:02',
      addresses: ['10.1.1.2/32'],
      neighbors: [],
    };
    host.namespaces.set(link.namespace, 5);
    host.marked.push(link);
    const node = await startedNode({ vpp, host });
    assert.equal(node.pods.attachments().size, 1);
    assert.equal((await node.add('web', containerId, 'net1')).error, undefined);
    assert.equal(node.pods.attachments().size, 2);
  });
});
