/** NAT44, ACLs and redirects: the same random messages to the simulated VPP and a real one. */
import fc from 'fast-check';
import { inputNodes } from '#test/descriptors/compliance/vpp-state.ts';
import { type MessageGenerator, message } from '#test/simulator/random-requests.ts';
import { plain } from '#test/simulator/vpp-state.ts';
import { fibPath, permitAll } from '#test/vpp/descriptors/messages.ts';
import { bytesOfAddress, toAddress, toPrefix } from '#vpp/binapi/addresses.ts';
import type { VppClient } from '#vpp/binapi/api.ts';
import { PuntType } from '#vpp/binapi/enums.gen.ts';
import type { Differential } from './suite.ts';

const NONE = 0xffff_ffff;
const one = fc.constantFrom;
const isAdd = one(true, true, true, false);
const anyIndex = one(1, 2, 3, 4, 9);
const vrf = one(0, 1, 2);
const port = one(80, 80, 81);
const protocol = one(6, 17);
const tag = one('', 'a', 'b');
const inside = one('10.1.1.1', '10.1.1.2', '10.1.1.3').map(bytesOfAddress);
const outside = one('10.96.0.1', '10.96.0.2', '10.10.1.1').map(bytesOfAddress);

const local = fc.record({ addr: inside, port, probability: one(1, 2, 200), vrf_id: vrf });

const rule = fc
  .record({
    network: one('0.0.0.0/0', '10.1.0.0/16', '::/0'),
    other: one('0.0.0.0/0', '10.2.0.0/16', '::/0'),
    from: one(0, 80),
    to: one(79, 65_535),
  })
  .map(({ network, other, from, to }) => ({
    ...permitAll,
    src_prefix: toPrefix(network),
    dst_prefix: toPrefix(other),
    proto: 6,
    dstport_or_icmpcode_first: from,
    dstport_or_icmpcode_last: to,
  }));

const punt = fc
  .record({ af: one(0, 1), protocol: one(17, 17, 17, 6), port: one(53, 80) })
  .map((l4) => ({ type: PuntType.PUNT_API_TYPE_L4, punt: { l4 } }));

const redirectTo = one(1, 2).map((sw_if_index) =>
  fibPath({ sw_if_index, rpf_id: 0 }, toAddress('10.10.1.7').un),
);

/** Interfaces and tables as they come and go, and what is asked of them. */
const generators: readonly MessageGenerator[] = [
  message(2, 'create_loopback', fc.record({ mac_address: fc.constant(new Uint8Array(6)) })),
  message(1, 'delete_loopback', fc.record({ sw_if_index: one(3, 4) })),
  message(
    2,
    'sw_interface_add_del_address',
    fc.record({
      sw_if_index: one(1, 2, 3),
      is_add: isAdd,
      del_all: fc.constant(false),
      prefix: one('10.10.1.1/24', '10.10.2.1/24').map(toPrefix),
    }),
  ),
  message(
    2,
    'ip_table_add_del',
    fc.record({
      is_add: isAdd,
      table: fc.record({ table_id: vrf, is_ip6: fc.constant(false), name: one('', 'x') }),
    }),
  ),
  message(
    2,
    'nat44_ed_plugin_enable_disable',
    fc.record({
      inside_vrf: fc.constant(0),
      outside_vrf: fc.constant(0),
      sessions: one(0, 1024),
      session_memory: fc.constant(0),
      enable: one(true, true, true, true, false),
      flags: one(0, 1, 1, 1, 2, 4),
    }),
  ),
  message(
    1,
    'nat_set_timeouts',
    fc.record({
      udp: one(60, 300),
      tcp_established: one(600, 7440),
      tcp_transitory: one(120, 240),
      icmp: one(30, 60),
    }),
  ),
  message(1, 'nat_set_workers', fc.record({ worker_mask: one(1n, 3n) })),
  message(1, 'nat44_set_session_limit', fc.record({ session_limit: one(1000, 2000), vrf_id: vrf })),
  message(
    1,
    'nat44_del_session',
    fc.record({
      address: inside,
      protocol,
      port,
      vrf_id: vrf,
      flags: one(0, 32),
      ext_host_address: outside,
      ext_host_port: port,
    }),
  ),
  message(1, 'nat44_forwarding_enable_disable', fc.record({ enable: fc.boolean() })),
  message(
    5,
    'nat44_interface_add_del_feature',
    fc.record({ is_add: isAdd, flags: one(16, 32), sw_if_index: anyIndex }),
  ),
  message(
    3,
    'nat44_ed_add_del_output_interface',
    fc.record({ is_add: isAdd, sw_if_index: anyIndex }),
  ),
  message(
    3,
    'feature_enable_disable',
    fc.record({
      sw_if_index: anyIndex,
      enable: fc.boolean(),
      arc_name: fc.constant('ip4-unicast'),
      feature_name: one('nat-pre-in2out', 'nat44-ed-classify', 'nat44-ed-classify', 'none'),
    }),
  ),
  message(
    4,
    'nat44_add_del_address_range',
    fc.record({
      first_ip_address: one('10.96.0.1', '10.96.0.2').map(bytesOfAddress),
      last_ip_address: one('10.96.0.1', '10.96.0.3').map(bytesOfAddress),
      vrf_id: one(NONE, 0, 1, 2),
      is_add: isAdd,
      flags: one(0, 1),
    }),
  ),
  message(
    8,
    'nat44_add_del_static_mapping_v2',
    fc.record({
      is_add: isAdd,
      match_pool: fc.boolean(),
      flags: one(0, 4, 4, 5, 6, 8, 9, 10, 12),
      pool_ip_address: one('0.0.0.0', '10.96.0.1').map(bytesOfAddress),
      local_ip_address: inside,
      external_ip_address: outside,
      protocol,
      local_port: port,
      external_port: port,
      external_sw_if_index: one(NONE, NONE, NONE, 1, 2),
      vrf_id: one(NONE, 0, 1, 2),
      tag,
    }),
  ),
  message(
    5,
    'nat44_add_del_lb_static_mapping',
    fc.record({
      is_add: isAdd,
      flags: one(4, 4, 5, 6, 7, 0),
      external_addr: outside,
      external_port: port,
      protocol,
      affinity: one(0, 60),
      tag,
      locals: fc.array(local, { maxLength: 4 }),
    }),
  ),
  message(
    3,
    'nat44_lb_static_mapping_add_del_local',
    fc.record({ is_add: isAdd, external_addr: outside, external_port: port, protocol, local }),
  ),
  message(
    6,
    'nat44_add_del_identity_mapping',
    fc.record({
      is_add: isAdd,
      flags: one(0, 0, 8),
      ip_address: outside,
      protocol,
      port,
      sw_if_index: one(NONE, NONE, NONE, 1, 2),
      vrf_id: vrf,
      tag,
    }),
  ),
  message(1, 'nat44_ed_add_del_vrf_table', fc.record({ table_vrf_id: one(1, 2), is_add: isAdd })),
  message(
    1,
    'nat44_ed_add_del_vrf_route',
    fc.record({ table_vrf_id: one(1, 2), vrf_id: one(0, 1, 2), is_add: isAdd }),
  ),
  message(
    5,
    'acl_add_replace',
    fc.record({ acl_index: one(NONE, NONE, 0, 1, 5), tag, r: fc.array(rule, { maxLength: 3 }) }),
  ),
  message(2, 'acl_del', fc.record({ acl_index: one(0, 1, 2) })),
  message(
    4,
    'acl_interface_add_del',
    fc.record({
      is_add: isAdd,
      is_input: fc.boolean(),
      sw_if_index: anyIndex,
      acl_index: one(0, 1, 2),
    }),
  ),
  message(
    4,
    'acl_interface_set_acl_list',
    fc
      .record({
        sw_if_index: anyIndex,
        n_input: fc.nat(3),
        acls: fc.array(one(0, 1, 2, 3), { maxLength: 4 }),
      })
      .map((each) => ({ ...each, n_input: Math.min(each.n_input, each.acls.length) })),
  ),
  message(
    3,
    'stn_add_del_rule',
    fc.record({
      ip_address: one('192.168.1.1', '192.168.1.2', 'fd00::1').map(toAddress),
      // VPP does not survive one that is not there
      sw_if_index: one(0, 1, 2),
      is_add: isAdd,
    }),
  ),
  message(
    3,
    'add_del_ip_punt_redirect_v2',
    fc.record({
      is_add: isAdd,
      punt: fc.record({
        rx_sw_if_index: one(NONE, 1, 2),
        af: fc.constant(0),
        paths: fc.array(redirectTo, { minLength: 1, maxLength: 1 }),
      }),
    }),
  ),
  message(
    3,
    'punt_socket_register',
    fc.record({ header_version: one(1, 1, 1, 2), punt, pathname: one('/run/one', '/run/two') }),
  ),
  message(1, 'punt_socket_deregister', fc.record({ punt })),
];

function sorted(values: readonly unknown[]): unknown[] {
  return values.map(plain).sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
}

async function stateOf(client: VppClient): Promise<Record<string, unknown>> {
  const { translation_buckets: _, ...config } = await client.request(
    'nat44_show_running_config',
    {},
  );
  const balanced = await client.dump('nat44_lb_static_mapping_dump', {});
  const sides = await client.dump('nat44_interface_dump', {});
  return {
    config: { ...config, log_level: 0 },
    workers: await client.dump('nat_worker_dump', {}),
    tables: sorted(await client.dump('ip_table_dump', {})),
    interfaces: sorted(sides),
    nodes: await inputNodes(client, sides),
    outputs: sorted(await client.dump('nat44_ed_output_interface_get', {})),
    addresses: sorted(await client.dump('nat44_address_dump', {})),
    mappings: sorted(await client.dump('nat44_static_mapping_dump', {})),
    balanced: sorted(balanced.map((each) => ({ ...each, locals: sorted(each.locals) }))),
    identities: sorted(await client.dump('nat44_identity_mapping_dump', {})),
    acls: (await client.dump('acl_dump', { acl_index: NONE })).map(plain),
    bound: await client.dump('acl_interface_list_dump', { sw_if_index: NONE }),
    stn: sorted(await client.dump('stn_rules_dump', {})),
    sockets: sorted(await client.dump('punt_socket_dump', { type: PuntType.PUNT_API_TYPE_L4 })),
    redirects: sorted(await client.dump('ip_punt_redirect_v2_dump', { sw_if_index: NONE, af: 0 })),
  };
}

export const serviceMessages: Differential = {
  name: 'services of the simulated VPP against a real one',
  file: 'test/integration/vpp/differential-services.test.ts',
  source: 'test/integration/vpp/differential/service-messages.ts',
  generators,
  maxLength: 120,
  async prepare(...sides) {
    for (const { client } of sides)
      for (let n = 0; n < 2; n++)
        await client.request('create_loopback', { mac_address: new Uint8Array(6) });
  },
  stateOf,
};
