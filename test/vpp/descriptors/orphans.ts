/** Unmanaged objects of VPP, and objects that a crashed agent had begun. */
import assert from 'node:assert/strict';
import type { OrphanOptions } from '#test/descriptors/transitions/orphans.ts';
import { toAddress, toMac, toPrefix } from '#vpp/binapi/addresses.ts';
import type { VppClient } from '#vpp/binapi/api.ts';
import type { VppBackend } from './backends.ts';
import { fibPath, permitAll } from './messages.ts';

const NONE = 0xffff_ffff;

/** @param tag empty: unmanaged */
async function loopback(client: VppClient, tag: string): Promise<number> {
  const mac_address = new Uint8Array(6);
  const { sw_if_index } = await client.request('create_loopback', { mac_address });
  if (tag !== '')
    await client.request('sw_interface_tag_add_del', { is_add: true, sw_if_index, tag });
  return sw_if_index;
}

async function acl(client: VppClient, tag: string): Promise<number> {
  const fields = { acl_index: NONE, tag, r: [permitAll] };
  return (await client.request('acl_add_replace', fields)).acl_index;
}

async function bind(client: VppClient, sw_if_index: number, acl_index: number): Promise<void> {
  await client.request('acl_interface_set_acl_list', {
    sw_if_index,
    n_input: 1,
    acls: [acl_index],
  });
}

async function address(client: VppClient, sw_if_index: number, prefix: string): Promise<void> {
  const fields = { sw_if_index, is_add: true, del_all: false, prefix: toPrefix(prefix) };
  await client.request('sw_interface_add_del_address', fields);
}

async function sourceOf(client: VppClient, name: string): Promise<number> {
  const sources = await client.dump('fib_source_dump', {});
  return sources.find(({ src }) => src.name === name)?.src.id ?? 0;
}

/** @param source as `fib_source_dump` names it */
async function drop(client: VppClient, source: string, prefix: string): Promise<void> {
  const src = await sourceOf(client, source);
  const path = fibPath({ type: 2 });
  await client.request('ip_route_add_del_v2', {
    is_add: true,
    is_multipath: true,
    route: { table_id: 0, stats_index: 0, prefix: toPrefix(prefix), paths: [path], src },
  });
}

async function bridge(client: VppClient, bd_tag: string, member: number): Promise<void> {
  const { bd_id } = await client.request('bridge_domain_add_del_v2', {
    bd_id: NONE,
    flood: true,
    uu_flood: true,
    forward: true,
    learn: false,
    arp_term: false,
    arp_ufwd: false,
    mac_age: 0,
    bd_tag,
    is_add: true,
  });
  await client.request('sw_interface_set_l2_bridge', {
    rx_sw_if_index: member,
    bd_id,
    port_type: 0,
    shg: 0,
    enable: true,
  });
  await client.request('l2fib_add_del', {
    mac: toMac('02:00:00:00:00:99'),
    bd_id,
    sw_if_index: member,
    is_add: true,
    static_mac: true,
    filter_mac: false,
    bvi_mac: false,
  });
}

async function nat(client: VppClient): Promise<void> {
  await client.request('nat44_ed_plugin_enable_disable', {
    inside_vrf: 0,
    outside_vrf: 0,
    sessions: 0,
    session_memory: 0,
    enable: true,
    flags: 0,
  });
}

export function vppOrphans(backend: VppBackend, kills: number): OrphanOptions {
  const { client } = backend;
  return {
    kills,
    async others() {
      const routed = await loopback(client, '');
      await address(client, routed, '172.30.0.1/24');
      await client.request('ip_neighbor_add_del', {
        is_add: true,
        neighbor: {
          sw_if_index: routed,
          flags: 1,
          mac_address: toMac('02:00:00:00:00:78'),
          ip_address: toAddress('172.30.0.2'),
        },
      });
      await drop(client, 'CLI', '172.31.0.0/16');
      await bind(client, routed, await acl(client, ''));
      await acl(client, '');
      await bridge(client, '', await loopback(client, ''));
      const table = { table_id: 777, is_ip6: false, name: '' };
      await client.request('ip_table_add_del', { is_add: true, table });
    },
    async moreOfOthers() {
      const table = { table_id: 0, is_ip6: false, name: '' };
      const src = await sourceOf(client, 'CLI');
      const routes = await client.dump('ip_route_v2_dump', { src, table });
      assert.equal(routes.length, 1);
      return routes.map(({ route }) => ({ ...route, stats_index: 0 }));
    },
    begun: {
      'an interface with nothing but its tag': async () => void (await loopback(client, 'begun')),
      'an interface with an address': async () =>
        address(client, await loopback(client, 'begun'), '10.99.0.1/24'),
      'a table': async () => {
        const table = { table_id: 99, is_ip6: false, name: 'begun' };
        await client.request('ip_table_add_del', { is_add: true, table });
      },
      'a route': () => drop(client, 'API', '10.98.0.0/16'),
      'a bridge domain with a member': async () =>
        bridge(client, 'begun', await loopback(client, 'member')),
      'an ACL that is not bound': async () => void (await acl(client, 'begun')),
      'an ACL that is': async () =>
        bind(client, await loopback(client, 'begun'), await acl(client, 'begun')),
      'NAT that was switched on': () => nat(client),
      'a mapping of NAT': async () => {
        await nat(client);
        await client.request('nat44_add_del_static_mapping_v2', {
          is_add: true,
          match_pool: false,
          flags: 4,
          pool_ip_address: new Uint8Array(4),
          local_ip_address: Uint8Array.of(10, 97, 0, 2),
          external_ip_address: Uint8Array.of(10, 96, 0, 10),
          protocol: 6,
          local_port: 8080,
          external_port: 80,
          external_sw_if_index: NONE,
          vrf_id: 0,
          tag: 'default/begun',
        });
      },
      'an interface of NAT': async () => {
        await nat(client);
        await client.request('nat44_interface_add_del_feature', {
          is_add: true,
          flags: 0x20,
          sw_if_index: await loopback(client, 'begun'),
        });
      },
    },
  };
}
