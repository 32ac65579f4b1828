import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { nonDefaultFields } from './vpp-with.ts';
import { keys, LINUX_IF, startedNode, VPP_IF } from './wired-node.ts';

describe('wiring of a node with VETH', () => {
  it('links host and VPP', async () => {
    const yaml = `
useTAPInterfaces: false
tcpChecksumOffloadDisabled: false
ipamConfig: {nodeInterconnectCIDR: 192.168.16.0/24}`;
    const node = await startedNode({ yaml });
    assert.deepEqual(nonDefaultFields(node.at(`${VPP_IF}afpacket-vpp2`)), {
      name: 'afpacket-vpp2',
      type: 'AF_PACKET',
      enabled: true,
      mtu: 1400,
      phys_address: '34:3c:00:00:00:01',
      ip_addresses: ['172.30.1.1/24'],
      afpacket: { host_if_name: 'vpp2', linux_interface: '' },
    });
    assert.deepEqual(nonDefaultFields(node.at(`${LINUX_IF}veth-vpp1`)), {
      name: 'veth-vpp1',
      type: 'VETH',
      host_if_name: 'vpp1',
      enabled: true,
      mtu: 1400,
      phys_address: '36:3c:00:00:00:01',
      ip_addresses: ['172.30.1.2/24'],
      veth: {
        peer_if_name: 'veth-vpp2',
        rx_checksum_offloading: 'CHKSM_OFFLOAD_DISABLED',
        tx_checksum_offloading: 'CHKSM_OFFLOAD_DISABLED',
      },
    });
    assert.deepEqual(nonDefaultFields(node.at(`${LINUX_IF}veth-vpp2`)), {
      name: 'veth-vpp2',
      type: 'VETH',
      host_if_name: 'vpp2',
      enabled: true,
      mtu: 1400,
      veth: {
        peer_if_name: 'veth-vpp1',
        rx_checksum_offloading: 'CHKSM_OFFLOAD_DEFAULT',
        tx_checksum_offloading: 'CHKSM_OFFLOAD_DEFAULT',
      },
    });
    assert.ok(node.config.has('config/linux/l3/v2/route/10.1.0.0/16/veth-vpp1'));
    assert.equal(node.net.hostInterconnect(), 'afpacket-vpp2');
    assert.deepEqual(keys(node, 'tap'), []);
  });

  it('wires pods', async () => {
    const node = await startedNode({ yaml: 'useTAPInterfaces: false' });
    await node.add('web', 'c1');
    assert.deepEqual(nonDefaultFields(node.at(`${VPP_IF}afpacketveth2-c1`)), {
      name: 'afpacketveth2-c1',
      type: 'AF_PACKET',
      enabled: true,
      mtu: 1400,
      vrf: 1,
      phys_address: '02:fe:bd:6f:14:b0',
      unnumbered: { interface_with_ip: 'podGwLoop' },
      afpacket: { host_if_name: 'c1', linux_interface: '' },
    });
    const pod = node.at<Record<string, unknown>>(`${LINUX_IF}veth1-c1`);
    assert.deepEqual(pod['namespace'], { type: 'FD', reference: '/run/netns/c1' });
    assert.deepEqual(pod['ip_addresses'], ['10.1.1.2/32']);
    assert.equal((pod['veth'] as Record<string, unknown>)['peer_if_name'], 'veth2-c1');
    const host = node.at<Record<string, unknown>>(`${LINUX_IF}veth2-c1`);
    assert.equal(host['namespace'], undefined);
    assert.equal(host['host_if_name'], 'c1');
    assert.deepEqual(node.net.podInterfaces('c1/eth0'), {
      vpp: 'afpacketveth2-c1',
      linux: 'veth1-c1',
      loopback: 'linux-loop-c1',
    });
  });
});
