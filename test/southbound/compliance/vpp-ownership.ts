/** What the descriptors of VPP leave alone, and things that move from one value to another. */
import assert from 'node:assert/strict';
import { after, afterEach, before, describe, test } from 'node:test';
import { systemClock } from '#infra/clock/system.ts';
import { silentLogger } from '#infra/log/log.ts';
import type { KeyedValue } from '#kvscheduler/api.ts';
import { createScheduler, type Scheduler } from '#kvscheduler/scheduler.ts';
import type { MessageModel } from '#models/define.ts';
import type { DeepInput } from '#models/model.ts';
import { vppArpModel } from '#models/vpp/arp.ts';
import { bridgeDomainModel } from '#models/vpp/bridge-domain.ts';
import { type VppInterface, vppInterfaceModel } from '#models/vpp/interface.ts';
import { proxyArpModel } from '#models/vpp/proxy-arp.ts';
import { type VppRoute, vppRouteModel } from '#models/vpp/route.ts';
import { vrfTableModel } from '#models/vpp/vrf-table.ts';
import { fromPrefix, toAddress, toMac, toPrefix } from '#southbound/vpp/binapi/addresses.ts';
import type { VppClient } from '#southbound/vpp/binapi/api.ts';
import { vppDescriptors } from '#southbound/vpp/descriptors/vpp-descriptors.ts';
import { vppView } from '#southbound/vpp/vpp-view.ts';
import { Driver } from './driver.ts';
import { hostLinkStub } from './host-link-stub.ts';
import { vppWorld } from './vpp-world.ts';

export interface VppOwnershipBackend {
  readonly client: VppClient;
  /** A link of the kernel that VPP can bind to. */
  readonly hostLink: string;
  stop(): Promise<void>;
}

const all = 0xffff_ffff;

function keyed<T extends object>(model: MessageModel<T>, input: DeepInput<T>): KeyedValue {
  const value = model.canonical(input);
  return { key: model.key(value), value };
}

function loop(name: string, more: DeepInput<VppInterface> = {}): KeyedValue {
  return keyed(vppInterfaceModel, { name, type: 'SOFTWARE_LOOPBACK', ...more });
}

function tunnel(name: string): KeyedValue {
  return keyed(vppInterfaceModel, {
    name,
    type: 'VXLAN_TUNNEL',
    vxlan: { src_address: '192.168.16.1', dst_address: '192.168.16.2', vni: 10 },
  });
}

function bridge(name: string, members: readonly string[], bvi?: string): KeyedValue {
  return keyed(bridgeDomainModel, {
    name,
    forward: true,
    interfaces: [
      ...members.map((member) => ({ name: member })),
      ...(bvi === undefined ? [] : [{ name: bvi, bridged_virtual_interface: true }]),
    ],
  });
}

/** @param has whether commands of VPP's shell can be given */
export function vppOwnershipSuite(
  start: () => Promise<VppOwnershipBackend>,
  has: { readonly shell: boolean },
): void {
  describe('ownership', () => {
    let backend: VppOwnershipBackend;
    let client: VppClient;
    let scheduler: Scheduler;

    const descriptors = () => [
      ...vppDescriptors({ client, clock: systemClock, log: silentLogger }),
      hostLinkStub,
    ];
    const commit = async (
      mode: 'full-resync' | 'update',
      values: readonly (readonly [string, object | null])[],
    ): Promise<void> => {
      const { failures } = await scheduler.commit({
        description: mode,
        mode,
        values: new Map(values),
        onFailure: 'best-effort',
      });
      assert.deepEqual(
        failures.map(({ key, error }) => `${key}: ${error.message}`),
        [],
      );
    };
    const entries = (values: readonly KeyedValue[]) =>
      values.map(({ key, value }) => [key, value] as const);
    /** What a new agent reads back when it wants these values. */
    const assertThere = async (values: readonly KeyedValue[]): Promise<void> => {
      const found = await new Driver(descriptors()).retrieve(values);
      for (const { key, value } of values) assert.deepEqual(found.get(key)?.value, value, key);
    };
    /** Goes through the states one after the other, each by an update, each held against VPP. */
    const walk = async (...states: readonly (readonly KeyedValue[])[]): Promise<void> => {
      let last: readonly KeyedValue[] = [];
      for (const state of states) {
        const gone = last.filter(({ key }) => !state.some((each) => each.key === key));
        await commit('update', [...gone.map(({ key }) => [key, null] as const), ...entries(state)]);
        await assertThere(state);
        last = state;
      }
    };

    before(async () => {
      backend = await start();
      client = backend.client;
      scheduler = createScheduler({
        descriptors: descriptors(),
        clock: systemClock,
        log: silentLogger,
      });
    });
    afterEach(() => commit('full-resync', []));
    after(async () => {
      await scheduler?.close();
      await backend?.stop();
    });

    test('interfaces, bridge domains and neighbours of others stay as they are', async () => {
      const mac_address = toMac('02:00:00:00:00:77');
      const { sw_if_index } = await client.request('create_loopback', { mac_address });
      await client.request('sw_interface_add_del_address', {
        sw_if_index,
        is_add: true,
        del_all: false,
        prefix: toPrefix('172.30.0.1/24'),
      });
      await client.request('ip_neighbor_add_del', {
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
        instance: all,
        src_address,
        dst_address: toAddress('172.30.0.9'),
        src_port: 0,
        dst_port: 0,
        mcast_sw_if_index: all,
        encap_vrf_id: 0,
        decap_next_index: all,
        vni: 99,
      };
      await client.request('vxlan_add_del_tunnel_v3', { is_add: true, ...theirTunnel });
      const { bd_id } = await client.request('bridge_domain_add_del_v2', {
        bd_id: all,
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
      const theirs = await vppWorld(client);

      await commit('full-resync', entries([loop('a', { ip_addresses: ['10.1.1.1/24'] })]));
      await commit('full-resync', []);
      assert.deepEqual(await vppWorld(client), theirs);

      await client.request('bridge_domain_add_del_v2', {
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
      await client.request('vxlan_add_del_tunnel_v3', { is_add: false, ...theirTunnel });
      await client.request('delete_loopback', { sw_if_index });
    });

    test('VLANs, memifs, cross-connects, clients of DHCP and proxy ARP of others stay', async () => {
      const made = async (answer: Promise<{ readonly sw_if_index: number }>) =>
        (await answer).sw_if_index;
      const mac_address = toMac('02:00:00:00:00:77');
      const parent = await made(client.request('create_loopback', { mac_address }));
      const vlan = await made(
        client.request('create_vlan_subif', { sw_if_index: parent, vlan_id: 5 }),
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
      await client.request('memif_socket_filename_add_del_v2', { is_add: true, ...socket });
      const memif = await made(client.request('memif_create_v2', theirMemif));
      const cross = { rx_sw_if_index: parent, tx_sw_if_index: vlan };
      await client.request('sw_interface_set_l2_xconnect', { ...cross, enable: true });
      const dhcp = {
        sw_if_index: memif,
        hostname: 'theirs',
        id: new Uint8Array(64),
        want_dhcp_event: false,
        set_broadcast_flag: true,
        dscp: 0,
        pid: 0,
      };
      await client.request('dhcp_client_config', { is_add: true, client: dhcp });
      const table = { table_id: 78, is_ip6: false, name: '' };
      await client.request('ip_table_add_del', { is_add: true, table });
      const proxy = { table_id: 78, low: Uint8Array.of(9, 9, 9, 1), hi: Uint8Array.of(9, 9, 9, 9) };
      await client.request('proxy_arp_add_del', { is_add: true, proxy });
      const theirSwitch = { sw_if_index: memif, enable: true };
      await client.request('proxy_arp_intfc_enable_disable', theirSwitch);
      const theirs = await vppWorld(client);

      // one of ours meets theirs on their socket
      const ours = keyed(vppInterfaceModel, {
        name: 'a',
        type: 'MEMIF',
        memif: { id: 2, master: true, socket_filename: socket.socket_filename },
      });
      const own = { first_ip_addr: '10.1.1.1', last_ip_addr: '10.1.1.9' };
      const ranges = keyed(proxyArpModel, { ranges: [own], interfaces: [{ name: 'a' }] });
      await commit('full-resync', entries([ours, ranges]));
      await assertThere([ours, ranges]);
      await commit('full-resync', []);
      await commit('full-resync', []);
      assert.deepEqual(await vppWorld(client), theirs);

      await client.request('proxy_arp_intfc_enable_disable', { ...theirSwitch, enable: false });
      await client.request('proxy_arp_add_del', { is_add: false, proxy });
      await client.request('ip_table_add_del', { is_add: false, table });
      await client.request('dhcp_client_config', { is_add: false, client: dhcp });
      await client.request('sw_interface_set_l2_xconnect', { ...cross, enable: false });
      await client.request('memif_delete', { sw_if_index: memif });
      await client.request('memif_socket_filename_add_del_v2', { is_add: false, ...socket });
      await client.request('delete_subif', { sw_if_index: vlan });
      await client.request('delete_loopback', { sw_if_index: parent });
    });

    test('an address moves to another interface in one transaction, either way', async () => {
      const a = (...ip_addresses: string[]) => loop('a', { enabled: true, ip_addresses });
      const b = (...ip_addresses: string[]) => loop('b', { enabled: true, ip_addresses });
      const start = await vppWorld(client);
      await commit('update', entries([a('10.1.1.1/24'), b('10.2.2.2/24')]));
      for (const swapped of [true, false, true]) {
        const [first, second] = ['10.1.1.1/24', '10.2.2.2/24'];
        await commit('update', entries(swapped ? [a(second), b(first)] : [a(first), b(second)]));
      }
      const addressesOf = async (tag: string) => {
        const found = await vppView(client).interfaces();
        const sw_if_index = found.find((each) => each.tag === tag)?.swIfIndex ?? 0;
        const dumped = await client.dump('ip_address_dump', { sw_if_index, is_ipv6: false });
        return dumped.map(({ prefix }) => fromPrefix(prefix));
      };
      assert.deepEqual(await addressesOf('a'), ['10.2.2.2/24']);
      assert.deepEqual(await addressesOf('b'), ['10.1.1.1/24']);
      await commit('full-resync', []);
      assert.deepEqual(await vppWorld(client), start);
    });

    // Only a real VPP has a shell to make them in.
    if (has.shell)
      test('tables and routes that were not made over the API stay', async () => {
        const shell = (cmd: string) => client.request('cli_inband', { cmd });
        await shell('ip table add 77');
        await shell('ip route add 172.31.0.0/16 table 77 via drop');
        const theirs = await vppWorld(client);
        // twice: the second time the table is among what is known already
        await commit('full-resync', []);
        await commit('full-resync', []);
        assert.deepEqual(await vppWorld(client), theirs);
        const { reply } = await shell('show ip fib table 77 172.31.0.0/16');
        assert.match(reply, /CLI/);
        await shell('ip route del 172.31.0.0/16 table 77');
        await shell('ip table del 77');
      });

    test('a neighbour that VPP has learned is nobody’s until it is wanted', async () => {
      await commit(
        'update',
        entries([loop('a', { enabled: true, ip_addresses: ['10.1.1.1/24'] })]),
      );
      const [found] = await vppView(client)
        .interfaces()
        .then((each) => each.filter((i) => i.tag === 'a'));
      await client.request('ip_neighbor_add_del', {
        is_add: true,
        neighbor: {
          sw_if_index: found?.swIfIndex ?? 0,
          flags: 0,
          mac_address: toMac('02:00:00:00:00:78'),
          ip_address: toAddress('10.1.1.2'),
        },
      });
      const entry = keyed(vppArpModel, {
        interface: 'a',
        ip_address: '10.1.1.2',
        phys_address: '02:00:00:00:00:78',
      });
      assert.equal((await new Driver(descriptors()).retrieve([])).has(entry.key), false);
      assert.deepEqual(
        (await new Driver(descriptors()).retrieve([entry])).get(entry.key)?.value,
        entry.value,
      );
    });

    test('a tunnel goes from one name to another', async () => {
      await walk([tunnel('one')], [tunnel('two')], [tunnel('one')]);
    });

    test('the BVI of a bridge domain becomes a plain member, and another one the BVI', async () => {
      const loops = [loop('a'), loop('b')];
      await walk(
        [...loops, bridge('bd', ['b'], 'a')],
        [...loops, bridge('bd', ['a'], 'b')],
        [...loops, bridge('bd', ['b'], 'a')],
      );
    });

    test('a member goes from one bridge domain to another and back', async () => {
      const loops = [loop('a'), loop('b')];
      await walk(
        [...loops, bridge('bd1', ['a', 'b']), bridge('bd2', [])],
        [...loops, bridge('bd1', ['b']), bridge('bd2', ['a'])],
        [...loops, bridge('bd1', ['a']), bridge('bd2', ['b'])],
      );
    });

    test('a route gives its path to another key', async () => {
      const path = (next_hop_addr: string, more: DeepInput<VppRoute> = {}): KeyedValue =>
        keyed(vppRouteModel, {
          type: 'INTER_VRF',
          dst_network: '10.1.0.0/16',
          next_hop_addr,
          via_vrf_id: 1,
          ...more,
        });
      const table = keyed(vrfTableModel, { id: 1, label: 'podVRF' });
      await walk([table, path('0.0.0.0')], [table, path('')], [table, path('0.0.0.0')]);
    });

    test('a host route on an interface is the same with its own address as next hop', async () => {
      const out = loop('out', { enabled: true, ip_addresses: ['10.1.1.1/24'] });
      const host = (next_hop_addr: string): KeyedValue =>
        keyed(vppRouteModel, {
          dst_network: '10.1.1.2/32',
          next_hop_addr,
          outgoing_interface: 'out',
        });
      await walk([out, host('')], [out, host('10.1.1.2')], [out, host('')]);
    });

    test('an interface changes its table with everything on it', async () => {
      const tables = [1, 2].map((id) => keyed(vrfTableModel, { id, label: `table-${id}` }));
      const lender = (vrf: number): KeyedValue =>
        loop('lender', { vrf, enabled: true, ip_addresses: ['10.1.1.1/24'] });
      const borrower = (vrf: number): KeyedValue =>
        loop('borrower', { vrf, enabled: true, unnumbered: { interface_with_ip: 'lender' } });
      const route = keyed(vppRouteModel, {
        vrf_id: 1,
        dst_network: '10.9.0.0/16',
        next_hop_addr: '10.1.1.2',
        outgoing_interface: 'lender',
      });
      await walk(
        [...tables, lender(1), borrower(1), route],
        [...tables, lender(2), borrower(2), route],
        [...tables, lender(1), borrower(1), route],
      );
      const found = await vppView(client).interfaces();
      const index = found.find(({ tag }) => tag === 'borrower')?.swIfIndex ?? 0;
      const table = await client.request('sw_interface_get_table', {
        sw_if_index: index,
        is_ipv6: false,
      });
      assert.equal(table.vrf_id, 1, 'the borrower follows its lender');
    });

    test('of two loopbacks with one MAC that lost their tags each gets its own back', async () => {
      const twins = ['a', 'b'].map((name) => loop(name, { phys_address: '12:2b:00:00:00:01' }));
      await commit('update', entries(twins));
      for (const { swIfIndex, tag } of await vppView(client).interfaces()) {
        if (tag === '') continue;
        const fields = { is_add: false, sw_if_index: swIfIndex, tag };
        await client.request('sw_interface_tag_add_del', fields);
      }
      await assertThere(twins);
      const tags = (await vppView(client).interfaces()).map(({ tag }) => tag);
      assert.deepEqual(tags.filter((tag) => tag !== '').sort(), ['a', 'b']);
    });

    test('an interface of VPP’s own is taken over and given back', async () => {
      const host_if_name = backend.hostLink;
      const name = `host-${host_if_name}`;
      const { sw_if_index } = await client.request('af_packet_create_v3', {
        mode: 1,
        hw_addr: toMac('02:fe:00:00:00:55'),
        use_random_hw_addr: false,
        host_if_name,
        rx_frame_size: 0,
        tx_frame_size: 0,
        rx_frames_per_block: 0,
        tx_frames_per_block: 0,
        flags: 0,
      });
      const look = async (): Promise<unknown> => {
        const found = await client.dump('sw_interface_dump', {
          sw_if_index,
          name_filter_valid: false,
          name_filter: '',
        });
        // the link of an interface that was up and is down again is down as well
        return found.map((each) => ({ ...each, flags: each.flags & 1 }));
      };
      const theirs = await look();
      const nic = keyed(vppInterfaceModel, {
        name,
        type: 'DPDK',
        enabled: true,
        ip_addresses: ['192.168.16.1/24'],
      });
      await commit('full-resync', entries([nic]));
      await assertThere([nic]);
      await commit('full-resync', []);
      assert.deepEqual(await look(), theirs);
      await client.request('af_packet_delete', { host_if_name });
    });

    test('a NIC that VPP does not have fails once and is not tried again', async () => {
      const driver = new Driver(descriptors());
      const nic = keyed(vppInterfaceModel, { name: 'GigabitEthernet0/99/0', type: 'DPDK' });
      const failure = await driver.put(nic.key, nic.value).catch((thrown: Error) => thrown);
      assert.ok(failure instanceof Error);
      assert.equal(failure.name, 'ErrNoSuchNic');
      assert.equal(driver.descriptorOf(nic.key)?.isRetriable?.(failure), false);
    });
  });
}
