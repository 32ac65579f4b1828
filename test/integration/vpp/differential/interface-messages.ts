/**
 * VLANs, memifs, clients of DHCP, cross-connects and proxy ARP: the same random messages to the
 * simulated VPP and a real one.
 */
import fc from 'fast-check';
import {
  policedInterfaces,
  policers,
  segmentingInterfaces,
} from '#test/descriptors/compliance/vpp-state.ts';
import { type MessageGenerator, message } from '#test/simulator/random-requests.ts';
import { comparableMac, plain, readVppState } from '#test/simulator/vpp-state.ts';
import { bytesOfAddress, toMac, toPrefix } from '#vpp/binapi/addresses.ts';
import type { VppClient } from '#vpp/binapi/api.ts';
import type { Differential } from './suite.ts';

const ALL = 0xffff_ffff;

const one = fc.constantFrom;
const isAdd = one(true, true, true, false);
const index = one(1, 2, 3, 4, 5, 9);
const noMac = new Uint8Array(6);
const table = one(0, 1, 2);

/** A peer never comes: roles do not share ids. */
const memif = fc
  .record({
    role: one(0, 1),
    number: one(1, 2),
    mode: one(0, 0, 1),
    socket_id: one(0, 5, 6, 7),
    ring_size: one(0, 512, 1000),
    hw_addr: one(noMac, toMac('02:fe:00:00:00:09')),
    secret: one('', 'hush'),
  })
  .map(({ role, number, ...rest }) => ({
    ...rest,
    role,
    id: number + 10 * role,
    rx_queues: 1,
    tx_queues: 1,
    buffer_size: 0,
    no_zero_copy: false,
    use_dma: false,
  }));

const dhcp = fc.record({
  sw_if_index: index,
  hostname: one('', 'node'),
  id: fc.constant(new Uint8Array(64)),
  want_dhcp_event: fc.boolean(),
  set_broadcast_flag: fc.boolean(),
  dscp: fc.constant(0),
  pid: one(0, 7),
});

const action = fc.record({ type: one(0, 1), dscp: fc.constant(0) });

const policer = fc.record({
  is_add: isAdd,
  name: one('a', 'b', 'contiv/INPUT/x'),
  cir: one(0, 1, 10_000, 0xffff_ffff),
  eir: one(0, 0, 0, 5),
  cb: one(0n, 1n, 262_144n),
  eb: one(0n, 0n, 0n, 9_000n),
  rate_type: fc.constant(0),
  round_type: fc.constant(0),
  type: fc.constant(0),
  color_aware: fc.boolean(),
  conform_action: action,
  exceed_action: action,
  violate_action: action,
});
const policed = fc.record({ name: one('a', 'b', 'c'), sw_if_index: index, apply: isAdd });

const generators: readonly MessageGenerator[] = [
  message(3, 'create_loopback', fc.record({ mac_address: fc.constant(noMac) })),
  message(1, 'delete_loopback', fc.record({ sw_if_index: one(3, 4, 5) })),
  message(4, 'create_vlan_subif', fc.record({ sw_if_index: index, vlan_id: one(0, 1, 2, 4096) })),
  message(1, 'delete_subif', fc.record({ sw_if_index: index })),
  message(
    2,
    'l2_interface_vlan_tag_rewrite',
    fc.record({
      sw_if_index: one(0, 1, 2, 3, 4, 5, 9),
      vtr_op: one(0, 1, 2, 3, 4, 5, 6, 7, 8, 9),
      push_dot1q: one(0, 1),
      tag1: one(0, 100),
      tag2: one(0, 200),
    }),
  ),
  message(4, 'sw_interface_set_flags', fc.record({ sw_if_index: index, flags: one(0, 1, 1) })),
  message(
    1,
    'sw_interface_set_mtu',
    fc.record({ sw_if_index: index, mtu: one([1300, 0, 0, 0], [0, 1280, 0, 0]) }),
  ),
  message(1, 'hw_interface_set_mtu', fc.record({ sw_if_index: index, mtu: one(1400, 9000) })),
  message(
    1,
    'sw_interface_set_mac_address',
    fc.record({ sw_if_index: index, mac_address: fc.constant(toMac('02:fe:00:00:00:08')) }),
  ),
  message(
    1,
    'sw_interface_set_rx_mode',
    fc.record({
      sw_if_index: index,
      queue_id_valid: fc.boolean(),
      queue_id: fc.constant(0),
      mode: one(1, 2, 4),
    }),
  ),
  message(
    1,
    'sw_interface_set_rx_placement',
    fc.record({
      sw_if_index: index,
      queue_id: one(0, 1),
      worker_id: one(0, 1),
      is_main: fc.boolean(),
    }),
  ),
  message(
    2,
    'sw_interface_add_del_address',
    fc.record({
      sw_if_index: index,
      is_add: isAdd,
      del_all: fc.constant(false),
      prefix: one('10.1.1.1/24', '10.1.2.1/24', 'fd00::1/64').map(toPrefix),
    }),
  ),
  message(
    1,
    'ip_table_add_del',
    fc.record({
      is_add: isAdd,
      table: fc.record({ table_id: table, is_ip6: fc.constant(false), name: one('', 'x') }),
    }),
  ),
  message(
    2,
    'memif_socket_filename_add_del_v2',
    fc.record({
      is_add: isAdd,
      socket_id: one(0, 5, 6),
      socket_filename: one('', 'abstract:differential-1', 'abstract:differential-2'),
    }),
  ),
  message(3, 'memif_create_v2', memif),
  message(1, 'memif_delete', fc.record({ sw_if_index: index })),
  message(2, 'dhcp_client_config', fc.record({ is_add: isAdd, client: dhcp })),
  message(
    2,
    'sw_interface_set_l2_xconnect',
    fc.record({ rx_sw_if_index: index, tx_sw_if_index: index, enable: isAdd }),
  ),
  message(
    2,
    'proxy_arp_add_del',
    fc.record({
      is_add: isAdd,
      proxy: fc.record({
        table_id: table,
        low: one('10.1.1.1', '10.1.1.2').map(bytesOfAddress),
        hi: one('10.1.1.9', '10.1.1.1').map(bytesOfAddress),
      }),
    }),
  ),
  message(
    2,
    'proxy_arp_intfc_enable_disable',
    fc.record({ sw_if_index: index, enable: fc.boolean() }),
  ),
  message(
    2,
    'feature_gso_enable_disable',
    fc.record({ sw_if_index: index, enable_disable: fc.boolean() }),
  ),
  message(3, 'policer_add_del', policer),
  message(2, 'policer_input', policed),
  message(2, 'policer_output', policed),
];

async function stateOf(client: VppClient) {
  const named = { name_filter_valid: false, name_filter: '' };
  const interfaces = await client.dump('sw_interface_dump', { sw_if_index: ALL, ...named });
  const files = await client.dump('memif_socket_filename_dump', {});
  return {
    ...(await readVppState(client)),
    memifs: (await client.dump('memif_dump', {})).map(({ hw_addr, ...memif }) => ({
      ...memif,
      mac: comparableMac(hw_addr),
    })),
    // the default one is in a folder of its own
    files: files
      .filter(({ socket_id }) => socket_id !== 0)
      .toSorted((a, b) => a.socket_id - b.socket_id),
    // when the first packet goes is a matter of time
    dhcpClients: (await client.dump('dhcp_client_dump', {})).map((each) => plain(each.client)),
    proxyArp: (await client.dump('proxy_arp_dump', {})).map(plain),
    proxyArpInterfaces: await client.dump('proxy_arp_intfc_dump', {}),
    segmenting: await segmentingInterfaces(client, interfaces),
    policers: await policers(client),
    policed: await policedInterfaces(client, interfaces),
  };
}

/** VPP writes past the end of a table if a policer is taken off where none ever was. */
async function lengthenTables(client: VppClient): Promise<void> {
  const made: number[] = [];
  while (made.length < 9) {
    const { sw_if_index } = await client.request('create_loopback', { mac_address: noMac });
    made.push(sw_if_index);
  }
  const [of] = fc.sample(policer, 1);
  const name = 'lengthens the tables';
  const config = { ...of!, name, cir: 1, eir: 0, cb: 1n, eb: 0n };
  await client.request('policer_add_del', { ...config, is_add: true });
  for (const apply of [true, false])
    for (const message of ['policer_input', 'policer_output'] as const)
      await client.request(message, { name, sw_if_index: made.at(-1)!, apply });
  await client.request('policer_add_del', { ...config, is_add: false });
  for (const sw_if_index of made.reverse())
    await client.request('delete_loopback', { sw_if_index });
}

export const interfaceMessages: Differential = {
  name: 'VLANs, memifs, DHCP and proxy ARP against a real VPP',
  file: 'test/integration/vpp/differential-interfaces.test.ts',
  source: 'test/integration/vpp/differential/interface-messages.ts',
  generators,
  maxLength: 60,
  async prepare(...sides) {
    for (const { client } of sides) await lengthenTables(client);
  },
  stateOf,
};
