/** Unmanaged objects in VPP stay untouched. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { vppArpModel } from '#models/vpp/arp.ts';
import { vppInterfaceModel } from '#models/vpp/interface.ts';
import { proxyArpModel } from '#models/vpp/proxy-arp.ts';
import { toAddress, toMac, toPrefix } from '#vpp/binapi/addresses.ts';
import { vppPort } from '#vpp/vpp-port.ts';
import { readBack } from './driver.ts';
import { keyedValue, loop } from './example-values.ts';
import { entries, type SharedVpp, SharedVppAgent } from './shared-vpp-agent.ts';
import { vppState } from './vpp-state.ts';

const ALL = 0xffff_ffff;

/** @param has whether commands of VPP's shell can be given */
export function ownershipSuite(
  start: () => Promise<SharedVpp>,
  has: { readonly shell: boolean },
): void {
  describe('ownership', () => {
    const owner = new SharedVppAgent(start);

    test('unmanaged interfaces, bridge domains and neighbors stay unchanged', async () => {
      const mac_address = toMac('02:00:00:00:00:77');
      const { sw_if_index } = await owner.client.request('create_loopback', { mac_address });
      await owner.client.request('sw_interface_add_del_address', {
        sw_if_index,
        is_add: true,
        del_all: false,
        prefix: toPrefix('172.30.0.1/24'),
      });
      await owner.client.request('ip_neighbor_add_del', {
        is_add: true,
        neighbor: {
          sw_if_index,
          flags: 1,
          mac_address: toMac('02:00:00:00:00:78'),
          ip_address: toAddress('172.30.0.2'),
        },
      });
      const src_address = toAddress('172.30.0.1');
      const theirTunnel = {
        instance: ALL,
        src_address,
        dst_address: toAddress('172.30.0.9'),
        src_port: 0,
        dst_port: 0,
        mcast_sw_if_index: ALL,
        encap_vrf_id: 0,
        decap_next_index: ALL,
        vni: 99,
      };
      await owner.client.request('vxlan_add_del_tunnel_v3', { is_add: true, ...theirTunnel });
      const { bd_id } = await owner.client.request('bridge_domain_add_del_v2', {
        bd_id: ALL,
        flood: true,
        uu_flood: true,
        forward: true,
        learn: true,
        arp_term: false,
        arp_ufwd: false,
        mac_age: 0,
        bd_tag: '',
        is_add: true,
      });
      const theirs = await vppState(owner.client);

      await owner.commit('full-resync', entries([loop('a', { ip_addresses: ['10.1.1.1/24'] })]));
      await owner.commit('full-resync', []);
      assert.deepEqual(await vppState(owner.client), theirs);

      await owner.client.request('bridge_domain_add_del_v2', {
        bd_id,
        flood: true,
        uu_flood: true,
        forward: true,
        learn: true,
        arp_term: false,
        arp_ufwd: false,
        mac_age: 0,
        bd_tag: '',
        is_add: false,
      });
      await owner.client.request('vxlan_add_del_tunnel_v3', { is_add: false, ...theirTunnel });
      await owner.client.request('delete_loopback', { sw_if_index });
    });

    test('unmanaged VLANs, memifs, cross-connects, DHCP clients and proxy ARP stay', async () => {
      const made = async (answer: Promise<{ readonly sw_if_index: number }>) =>
        (await answer).sw_if_index;
      const mac_address = toMac('02:00:00:00:00:77');
      const parent = await made(owner.client.request('create_loopback', { mac_address }));
      const vlan = await made(
        owner.client.request('create_vlan_subif', { sw_if_index: parent, vlan_id: 5 }),
      );
      const socket = { socket_id: 9, socket_filename: 'abstract:contiv-ownership' };
      const theirMemif = {
        role: 0,
        mode: 0,
        rx_queues: 1,
        tx_queues: 1,
        id: 1,
        socket_id: socket.socket_id,
        ring_size: 1024,
        buffer_size: 2048,
        no_zero_copy: false,
        use_dma: false,
        hw_addr: new Uint8Array(6),
        secret: '',
      };
      await owner.client.request('memif_socket_filename_add_del_v2', { is_add: true, ...socket });
      const memif = await made(owner.client.request('memif_create_v2', theirMemif));
      const cross = { rx_sw_if_index: parent, tx_sw_if_index: vlan };
      await owner.client.request('sw_interface_set_l2_xconnect', { ...cross, enable: true });
      const dhcp = {
        sw_if_index: memif,
        hostname: 'theirs',
        id: new Uint8Array(64),
        want_dhcp_event: false,
        set_broadcast_flag: true,
        dscp: 0,
        pid: 0,
      };
      await owner.client.request('dhcp_client_config', { is_add: true, client: dhcp });
      const table = { table_id: 78, is_ip6: false, name: '' };
      await owner.client.request('ip_table_add_del', { is_add: true, table });
      const proxy = { table_id: 78, low: Uint8Array.of(9, 9, 9, 1), hi: Uint8Array.of(9, 9, 9, 9) };
      await owner.client.request('proxy_arp_add_del', { is_add: true, proxy });
      const theirSwitch = { sw_if_index: memif, enable: true };
      await owner.client.request('proxy_arp_intfc_enable_disable', theirSwitch);
      const theirs = await vppState(owner.client);

      // a managed memif connects to an unmanaged one on its socket
      const ours = keyedValue(vppInterfaceModel, {
        name: 'a',
        type: 'MEMIF',
        memif: { id: 2, master: true, socket_filename: socket.socket_filename },
      });
      const own = { first_ip_addr: '10.1.1.1', last_ip_addr: '10.1.1.9' };
      const ranges = keyedValue(proxyArpModel, { ranges: [own], interfaces: [{ name: 'a' }] });
      await owner.commit('full-resync', entries([ours, ranges]));
      await owner.assertReadsBack([ours, ranges]);
      await owner.commit('full-resync', []);
      await owner.commit('full-resync', []);
      assert.deepEqual(await vppState(owner.client), theirs);

      await owner.client.request('proxy_arp_intfc_enable_disable', {
        ...theirSwitch,
        enable: false,
      });
      await owner.client.request('proxy_arp_add_del', { is_add: false, proxy });
      await owner.client.request('ip_table_add_del', { is_add: false, table });
      await owner.client.request('dhcp_client_config', { is_add: false, client: dhcp });
      await owner.client.request('sw_interface_set_l2_xconnect', { ...cross, enable: false });
      await owner.client.request('memif_delete', { sw_if_index: memif });
      await owner.client.request('memif_socket_filename_add_del_v2', { is_add: false, ...socket });
      await owner.client.request('delete_subif', { sw_if_index: vlan });
      await owner.client.request('delete_loopback', { sw_if_index: parent });
    });

    // Only a real VPP has a shell to make them in.
    if (has.shell)
      test('tables and routes that were not made over the API stay', async () => {
        const shell = (cmd: string) => owner.client.request('cli_inband', { cmd });
        await shell('ip table add 77');
        await shell('ip route add 172.31.0.0/16 table 77 via drop');
        const theirs = await vppState(owner.client);
        // twice: the second time the table is among what is known already
        await owner.commit('full-resync', []);
        await owner.commit('full-resync', []);
        assert.deepEqual(await vppState(owner.client), theirs);
        const { reply } = await shell('show ip fib table 77 172.31.0.0/16');
        assert.match(reply, /CLI/);
        await shell('ip route del 172.31.0.0/16 table 77');
        await shell('ip table del 77');
      });

    test('a learned neighbor is unmanaged until it is desired', async () => {
      await owner.commit(
        'update',
        entries([loop('a', { enabled: true, ip_addresses: ['10.1.1.1/24'] })]),
      );
      const [found] = await vppPort(owner.client)
        .interfaces()
        .then((each) => each.filter((i) => i.tag === 'a'));
      await owner.client.request('ip_neighbor_add_del', {
        is_add: true,
        neighbor: {
          sw_if_index: found?.swIfIndex ?? 0,
          flags: 0,
          mac_address: toMac('02:00:00:00:00:78'),
          ip_address: toAddress('10.1.1.2'),
        },
      });
      const entry = keyedValue(vppArpModel, {
        interface: 'a',
        ip_address: '10.1.1.2',
        phys_address: '02:00:00:00:00:78',
      });
      const undesired = await readBack(owner.descriptors(), []);
      assert.equal(undesired.values.has(entry.key), false);
      const desired = await readBack(owner.descriptors(), [entry]);
      assert.deepEqual(desired.values.get(entry.key)?.value, entry.value);
    });

    test('of two loopbacks with one MAC that lost their tags each gets its own back', async () => {
      const twins = ['a', 'b'].map((name) => loop(name, { phys_address: '12:2b:00:00:00:01' }));
      await owner.commit('update', entries(twins));
      for (const { swIfIndex, tag } of await vppPort(owner.client).interfaces()) {
        if (tag === '') continue;
        const fields = { is_add: false, sw_if_index: swIfIndex, tag };
        await owner.client.request('sw_interface_tag_add_del', fields);
      }
      await owner.assertReadsBack(twins);
      const { leftovers } = await readBack(owner.descriptors(), twins);
      assert.deepEqual(leftovers.map(({ name }) => name).sort(), ['tag/a', 'tag/b']);
      await owner.commit('full-resync', entries(twins));
      const tags = (await vppPort(owner.client).interfaces()).map(({ tag }) => tag);
      assert.deepEqual(tags.filter((tag) => tag !== '').sort(), ['a', 'b']);
    });
  });
}
