import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { fromPrefix, toMac, toPrefix } from '#vpp/binapi/addresses.ts';
import { VppDisconnectedError } from '#vpp/binapi/api.ts';
import {
  allInterfaces,
  type Machine,
  machine,
  NONE,
  noMac,
  refusedWith,
  routeTo,
} from './machine.ts';

function tap(name: string, more: object = {}) {
  return {
    id: NONE,
    use_random_mac: true,
    mac_address: noMac,
    num_rx_queues: 1,
    num_tx_queues: 1,
    tx_ring_sz: 256,
    rx_ring_sz: 256,
    host_mtu_set: false,
    host_mtu_size: 0,
    host_mac_addr_set: false,
    host_mac_addr: noMac,
    host_ip4_prefix_set: false,
    host_ip4_prefix: { address: new Uint8Array(4), len: 0 },
    host_ip6_prefix_set: false,
    host_ip6_prefix: { address: new Uint8Array(16), len: 0 },
    host_ip4_gw_set: false,
    host_ip4_gw: new Uint8Array(4),
    host_ip6_gw_set: false,
    host_ip6_gw: new Uint8Array(16),
    tap_flags: 0,
    host_namespace_set: false,
    host_namespace: '',
    host_if_name_set: true,
    host_if_name: name,
    host_bridge_set: false,
    host_bridge: '',
    tag: `tag-${name}`,
    ...more,
  };
}

function afPacket(host_if_name: string) {
  return {
    mode: 1,
    hw_addr: noMac,
    use_random_hw_addr: true,
    host_if_name,
    rx_frame_size: 0,
    tx_frame_size: 0,
    rx_frames_per_block: 0,
    tx_frames_per_block: 0,
    flags: 0,
    num_rx_queues: 1,
    num_tx_queues: 1,
  };
}

async function hostLinks({ host }: Machine): Promise<string[]> {
  return (await host.dump(undefined)).links.map((link) => link.name).sort();
}

describe('the simulated VPP on its host', () => {
  test('a TAP has a host end that is up and has a carrier, until it is deleted', async () => {
    const m = await machine();
    const { sw_if_index } = await m.client.request('tap_create_v3', tap('tap-1'));
    const link = (await m.host.dump(undefined)).links.find(({ name }) => name === 'tap-1');
    assert.deepEqual([link?.kind, link?.up, link?.running], ['tun', true, true]);
    const [details] = await m.client.dump('sw_interface_dump', { ...allInterfaces, sw_if_index });
    assert.deepEqual(
      [details?.interface_name, details?.tag, details?.flags],
      ['tap0', 'tag-tap-1', 2],
    );
    await m.client.request('tap_delete_v2', { sw_if_index });
    assert.deepEqual(await hostLinks(m), ['lo']);
  });

  test('a TAP that the host rejects leaves no state', async () => {
    const m = await machine();
    await m.client.request('tap_create_v3', tap('tap-1'));
    await assert.rejects(m.client.request('tap_create_v3', tap('tap-1')), refusedWith(-13));
    const elsewhere = tap('tap-2', { host_namespace_set: true, host_namespace: '/nowhere' });
    await assert.rejects(m.client.request('tap_create_v3', elsewhere), refusedWith(-12));
    await assert.rejects(
      m.client.request('tap_create_v3', tap('tap-3', { rx_ring_sz: 100 })),
      refusedWith(-144),
    );
    assert.deepEqual(await hostLinks(m), ['lo', 'tap-1']);
    assert.equal((await m.client.dump('sw_interface_dump', allInterfaces)).length, 2);
  });

  test('the host end of a TAP is deleted with its namespace; its interface in VPP stays', async () => {
    const m = await machine();
    m.host.addNamespace('/proc/7/ns/net');
    const { sw_if_index } = await m.client.request('tap_create_v3', tap('tap-1'));
    const to = { namespace: '/proc/7/ns/net', name: 'eth0' };
    await m.host.moveLink({ namespace: undefined, name: 'tap-1' }, to);
    m.host.removeNamespace('/proc/7/ns/net');
    assert.equal((await m.client.dump('sw_interface_dump', allInterfaces)).length, 2);
    await m.client.request('tap_delete_v2', { sw_if_index });
  });

  test('an AF_PACKET interface sets its host link up and down, and outlives it', async () => {
    const m = await machine();
    const end = (name: string) => ({ namespace: undefined, name });
    await assert.rejects(m.client.request('af_packet_create_v3', afPacket('va')), refusedWith(-71));
    await m.host.createVeth(end('va'), end('vb'));
    const { sw_if_index } = await m.client.request('af_packet_create_v3', afPacket('va'));
    const up = async () => m.host.linkHandle('va')?.up;
    assert.equal(await up(), true);
    await m.client.request('hw_interface_set_mtu', { sw_if_index, mtu: 1450 });
    assert.equal(m.host.linkHandle('va')?.mtu, 1494);
    await m.client.request('sw_interface_set_flags', { sw_if_index, flags: 1 });
    await m.client.request('sw_interface_set_flags', { sw_if_index, flags: 0 });
    assert.equal(await up(), false);
    await m.host.deleteLink(undefined, 'va');
    await m.host.createVeth(end('va'), end('vb'));
    await assert.rejects(m.client.request('af_packet_create_v3', afPacket('va')), refusedWith(-79));
    await m.client.request('af_packet_delete', { host_if_name: 'va' });
    await m.client.request('af_packet_create_v3', afPacket('va'));
  });

  test('a crash deletes TAPs from the host and keeps its other links', async () => {
    const m = await machine();
    const end = (name: string) => ({ namespace: undefined, name });
    await m.host.createVeth(end('va'), end('vb'));
    await m.client.request('tap_create_v3', tap('tap-1'));
    await m.client.request('af_packet_create_v3', afPacket('va'));
    m.vpp.crash();
    assert.deepEqual(await hostLinks(m), ['lo', 'va', 'vb']);
    assert.equal(m.vpp.snapshot(), undefined);
    await assert.rejects(m.vpp.connect()(), VppDisconnectedError);
    await m.vpp.start();
    await m.clock.advance(60_000);
    await m.client.whenConnected();
    assert.equal((await m.client.dump('sw_interface_dump', allInterfaces)).length, 1);
  });
});

describe('oddities of VPP that affect the agent', () => {
  test('routes outlive their interface, cannot be deleted then, and stay dead for its successor', async () => {
    const { client, vpp } = await machine();
    const make = () => client.request('create_loopback', { mac_address: noMac });
    const { sw_if_index } = await make();
    await client.request('ip_route_add_del', routeTo('10.2.0.0/16', sw_if_index, '10.1.1.2'));
    await client.request('delete_loopback', { sw_if_index });
    const gone = { ...routeTo('10.2.0.0/16', sw_if_index, '10.1.1.2'), is_add: false };
    await assert.rejects(client.request('ip_route_add_del', gone), refusedWith(-54));
    assert.equal((await make()).sw_if_index, sw_if_index);
    assert.deepEqual(vpp.snapshot()?.['routes'], [
      'vrf 0 10.2.0.0/16 via 10.1.1.2 dev loop0 unresolved',
    ]);
    // a new route with the same path shares it
    await client.request('ip_route_add_del', routeTo('10.3.0.0/16', sw_if_index, '10.1.1.2'));
    assert.match(String(vpp.snapshot()?.['routes']), /10\.3\.0\.0\/16 .* unresolved/);
    const shared = routeTo('10.3.0.0/16', sw_if_index, '10.1.1.2');
    await client.request('ip_route_add_del', { ...shared, is_add: false });
    await client.request('ip_route_add_del', gone);
    assert.deepEqual(vpp.snapshot()?.['routes'], []);
  });

  test('static MACs outlive membership and bridge domain', async () => {
    const { client } = await machine();
    const { sw_if_index } = await client.request('create_loopback', { mac_address: noMac });
    const member = { rx_sw_if_index: sw_if_index, bd_id: 4, port_type: 0, shg: 0, enable: true };
    await client.request('sw_interface_set_l2_bridge', member);
    await client.request('l2fib_add_del', {
      mac: toMac('02:fe:00:00:00:01'),
      bd_id: 4,
      sw_if_index,
      is_add: true,
      static_mac: true,
      filter_mac: false,
      bvi_mac: false,
    });
    const flags = { flood: true, uu_flood: true, forward: true, learn: true };
    const domain = { bd_id: 4, ...flags, arp_term: false, arp_ufwd: false, mac_age: 0, bd_tag: '' };
    const remove = () => client.request('bridge_domain_add_del_v2', { ...domain, is_add: false });
    await assert.rejects(remove(), refusedWith(-120));
    await client.request('sw_interface_set_l2_bridge', { ...member, enable: false });
    await remove();
    const macs = await client.dump('l2_fib_table_dump', { bd_id: NONE });
    assert.deepEqual(
      macs.map(({ bd_id }) => bd_id),
      [NONE],
    );
  });

  test('an IPv6 link-local address is set, but neither reported nor deleted', async () => {
    const { client, vpp } = await machine();
    const { sw_if_index } = await client.request('create_loopback', {
      mac_address: toMac('02:fe:00:00:00:01'),
    });
    const set = (prefix: string, is_add: boolean) =>
      client.request('sw_interface_add_del_address', {
        sw_if_index,
        is_add,
        del_all: false,
        prefix: toPrefix(prefix),
      });
    await assert.rejects(set('fe80::5/64', true), refusedWith(-59));
    await set('fd00::1/64', true);
    await assert.rejects(set('fe80::5/128', false), refusedWith(-60));
    await assert.rejects(set('fe80::fe:ff:fe00:1/128', false), refusedWith(-61));
    await set('fe80::5/128', true);
    await set('fe80::5/128', true);
    await assert.rejects(set('fe80::5/128', false), refusedWith(-61));
    const dumped = await client.dump('ip_address_dump', { sw_if_index, is_ipv6: true });
    assert.deepEqual(
      dumped.map(({ prefix }) => fromPrefix(prefix)),
      ['fd00::1/64'],
    );
    await set('fd00::1/64', false);
    await assert.rejects(set('fe80::5/128', false), VppDisconnectedError);
    assert.equal(vpp.isRunning, false);
  });

  test('a MAC is deleted with the interface of its entry, or with local0 for any', async () => {
    const { client } = await machine();
    const { sw_if_index } = await client.request('create_loopback', { mac_address: noMac });
    const member = { rx_sw_if_index: sw_if_index, bd_id: 4, port_type: 0, shg: 0, enable: true };
    await client.request('sw_interface_set_l2_bridge', member);
    const set = (index: number, is_add: boolean) =>
      client.request('l2fib_add_del', {
        mac: toMac('02:fe:00:00:00:01'),
        bd_id: 4,
        sw_if_index: index,
        is_add,
        static_mac: true,
        filter_mac: false,
        bvi_mac: false,
      });
    await set(sw_if_index, true);
    await assert.rejects(set(sw_if_index + 1, false), refusedWith(-6));
    await set(0, false);
    await assert.rejects(set(0, false), refusedWith(-6));
  });

  test('a deleted interface takes the other end of its cross-connect out of its bridge domain', async () => {
    const { client } = await machine();
    const create = () => client.request('create_loopback', { mac_address: noMac });
    const [one, other] = [await create(), await create()];
    await client.request('sw_interface_set_l2_bridge', {
      rx_sw_if_index: one.sw_if_index,
      bd_id: 4,
      port_type: 1,
      shg: 0,
      enable: true,
    });
    await client.request('sw_interface_set_l2_xconnect', {
      rx_sw_if_index: other.sw_if_index,
      tx_sw_if_index: one.sw_if_index,
      enable: true,
    });
    await client.request('delete_loopback', { sw_if_index: other.sw_if_index });
    const [domain] = await client.dump('bridge_domain_dump', { bd_id: 4, sw_if_index: NONE });
    assert.equal(domain?.bvi_sw_if_index, NONE);
    assert.deepEqual(domain?.sw_if_details, []);
  });

  test('events are sent once per index, combined with OR, and only to subscribers', async () => {
    const { client } = await machine();
    const seen: string[] = [];
    client.onEvent('sw_interface_event', ({ sw_if_index, flags, deleted }) =>
      seen.push(`${sw_if_index} ${flags}${deleted ? ' deleted' : ''}`),
    );
    const { sw_if_index } = await client.request('create_loopback', { mac_address: noMac });
    assert.deepEqual(seen, []);
    await client.request('want_interface_events', { enable_disable: 1, pid: 1 });
    const again = client.request('want_interface_events', { enable_disable: 1, pid: 1 });
    await assert.rejects(again, refusedWith(-31));
    await client.request('sw_interface_set_flags', { sw_if_index, flags: 1 });
    await Promise.all([
      client.request('delete_loopback', { sw_if_index }),
      client.request('create_loopback', { mac_address: noMac }),
    ]);
    await client.request('control_ping', {});
    assert.deepEqual(seen, [`${sw_if_index} 3`, `${sw_if_index} 0 deleted`]);
  });

  test('a message that is not simulated is answered with "not implemented"', async () => {
    const { client } = await machine();
    await assert.rejects(
      client.request('ip_reassembly_set', {
        timeout_ms: 100,
        max_reassemblies: 1024,
        max_reassembly_length: 3,
        expire_walk_interval_ms: 1000,
        is_ip6: false,
        type: 1,
      }),
      refusedWith(-9),
    );
    assert.equal(client.has('ip_reassembly_set'), true);
  });
});
