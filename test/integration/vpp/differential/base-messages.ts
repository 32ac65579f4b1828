/** The simulated VPP against a real one: the same random messages, the same answers and state. */
import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { type MessageGenerator, message, oneMessage } from '#test/simulator/random-requests.ts';
import { readVppState } from '#test/simulator/vpp-state.ts';
import { fibPath } from '#test/vpp/descriptors/messages.ts';
import { toAddress, toMac, toPrefix } from '#vpp/binapi/addresses.ts';
import type { Differential, Example } from './suite.ts';

const NONE = 0xffff_ffff;
const noMac = new Uint8Array(6);

const one = fc.constantFrom;
const anyIndex = one(0, 1, 2, 3, 4, 5, 9);
const routedIndex = one(2, 3, 4);
const isAdd = fc.boolean();
const mostlyAdd = one(true, true, true, false);
const mac = one('02:fe:00:00:00:01', '02:fe:00:00:00:02').map(toMac);
const tableId = one(0, 1, 2, 7);
const v4Prefix = one('10.1.1.1/24', '10.1.1.2/24', '10.1.1.1/32', '10.2.0.1/16', '10.9.0.1/31');
const v6Prefix = one('fd00::1/64', 'fd00::2/64', 'fd01::1/128', 'fe80::5/64', 'fe80::5/128');
const domainId = one(1, 2, 3);
const address = one('10.1.1.1', '10.1.1.7', '10.7.0.1', 'fd00::7').map(toAddress);

const path = fc.record({
  kind: one('via', 'via', 'attached', 'drop', 'lookup', 'recursive', 'unreachable'),
  index: anyIndex,
  table: tableId,
  hop: one('10.1.1.7', '10.1.1.8', '10.2.0.9'),
  weight: one(0, 1, 3),
  preference: one(0, 2),
});

type PathChoice = typeof path extends fc.Arbitrary<infer T> ? T : never;

function pathOf(choice: PathChoice) {
  const { kind, index, table, hop, weight, preference } = choice;
  const hasHop = kind === 'via' || kind === 'recursive';
  const fields = {
    sw_if_index: kind === 'via' || kind === 'attached' ? index : NONE,
    table_id: kind === 'lookup' || kind === 'recursive' ? table : 0,
    weight,
    preference,
    type: kind === 'drop' ? 2 : kind === 'unreachable' ? 5 : 0,
  };
  return fibPath(fields, hasHop ? toAddress(hop).un : undefined);
}

const addAddress = (prefix: fc.Arbitrary<string>) =>
  fc.record({
    // interface 1 lends its addresses: VPP becomes inconsistent when a lender's first address is deleted
    sw_if_index: one(1, 2, 3, 4, 9),
    is_add: fc.constant(true),
    del_all: fc.constant(false),
    prefix: prefix.map(toPrefix),
  });

const generators: readonly MessageGenerator[] = [
  message(3, 'create_loopback', fc.record({ mac_address: one(noMac, toMac('02:fe:00:00:00:05')) })),
  message(1, 'delete_loopback', fc.record({ sw_if_index: one(2, 3, 4, 5, 9) })),
  message(5, 'sw_interface_set_flags', fc.record({ sw_if_index: anyIndex, flags: one(0, 1, 1) })),
  message(
    1,
    'sw_interface_tag_add_del',
    fc.record({ is_add: isAdd, sw_if_index: anyIndex, tag: one('', 'a', 'b') }),
  ),
  message(
    1,
    'sw_interface_set_mac_address',
    fc.record({ sw_if_index: anyIndex, mac_address: mac }),
  ),
  message(
    1,
    'hw_interface_set_mtu',
    fc.record({ sw_if_index: anyIndex, mtu: one(1400, 1450, 9000) }),
  ),
  message(
    1,
    'sw_interface_set_mtu',
    fc.record({ sw_if_index: anyIndex, mtu: one([1300, 0, 0, 0], [0, 1280, 0, 0]) }),
  ),
  message(
    1,
    'sw_interface_set_rx_mode',
    fc.record({
      sw_if_index: anyIndex,
      queue_id_valid: isAdd,
      queue_id: one(0, 3),
      mode: one(1, 2, 3, 4),
    }),
  ),
  message(4, 'sw_interface_add_del_address', addAddress(fc.oneof(v4Prefix, v6Prefix))),
  message(
    1,
    'sw_interface_add_del_address',
    fc.record({
      sw_if_index: routedIndex,
      is_add: fc.constant(false),
      del_all: fc.constant(true),
      prefix: fc.constant(toPrefix('0.0.0.0/0')),
    }),
  ),
  message(
    2,
    'sw_interface_set_table',
    fc.record({ sw_if_index: anyIndex, is_ipv6: isAdd, vrf_id: tableId }),
  ),
  message(
    1,
    'sw_interface_set_unnumbered',
    fc.record({
      sw_if_index: fc.constant(1),
      unnumbered_sw_if_index: one(5, 9),
      is_add: mostlyAdd,
    }),
  ),
  message(
    2,
    'ip_table_add_del',
    fc.record({
      is_add: mostlyAdd,
      table: fc.record({ table_id: tableId, is_ip6: isAdd, name: one('', 'x', 'y') }),
    }),
  ),
  message(
    2,
    'ip_route_add_del_v2',
    fc.record({
      is_add: mostlyAdd,
      is_multipath: one(true, false),
      route: fc.record({
        table_id: tableId,
        stats_index: fc.constant(0),
        prefix: one('10.6.0.0/16', '10.1.1.9/32').map(toPrefix),
        src: fc.constant(0),
        paths: fc.array(path.map(pathOf), { maxLength: 2 }),
      }),
    }),
  ),
  message(
    1,
    'ip_route_lookup_v2',
    fc.record({
      table_id: tableId,
      exact: one(0, 1),
      prefix: one('10.1.1.0/24', '10.1.1.7/32', '10.5.0.0/16', 'fd00::/64').map(toPrefix),
    }),
  ),
  message(
    1,
    'set_ip_flow_hash_v2',
    fc.record({ table_id: tableId, af: one(0, 1), flow_hash_config: one(0, 3, 0x1f) }),
  ),
  message(
    8,
    'ip_route_add_del',
    fc.record({
      is_add: mostlyAdd,
      is_multipath: one(true, true, false),
      route: fc.record({
        table_id: tableId,
        stats_index: fc.constant(0),
        prefix: one('10.1.1.0/24', '10.1.1.7/32', '0.0.0.0/0', '10.5.3.3/16', '10.1.1.1/32').map(
          toPrefix,
        ),
        paths: fc.array(path.map(pathOf), { maxLength: 2 }),
      }),
    }),
  ),
  message(
    3,
    'ip_neighbor_add_del',
    fc.record({
      is_add: mostlyAdd,
      neighbor: fc.record({
        sw_if_index: one(2, 3, 4, 9),
        flags: one(0, 1, 1, 3),
        mac_address: mac,
        ip_address: address,
      }),
    }),
  ),
  message(
    1,
    'ip_neighbor_config',
    fc.record({
      af: one(0, 1, 5),
      max_number: one(100, 1000),
      max_age: one(0, 60),
      recycle: isAdd,
    }),
  ),
  message(
    2,
    'bridge_domain_add_del_v2',
    fc.record({
      bd_id: one(0, 1, 2, 3, 0x1000000),
      flood: isAdd,
      uu_flood: isAdd,
      forward: isAdd,
      learn: isAdd,
      arp_term: isAdd,
      arp_ufwd: isAdd,
      mac_age: one(0, 5),
      bd_tag: one('', 'red'),
      is_add: mostlyAdd,
    }),
  ),
  message(
    4,
    'sw_interface_set_l2_bridge',
    fc.record({
      // VPP ends itself when local0 becomes a BVI
      rx_sw_if_index: one(1, 2, 3, 4, 9),
      bd_id: domainId,
      port_type: one(0, 0, 1, 2, 6),
      shg: one(0, 1),
      enable: mostlyAdd,
    }),
  ),
  message(
    3,
    'l2fib_add_del',
    fc.record({
      mac,
      bd_id: domainId,
      sw_if_index: anyIndex,
      is_add: mostlyAdd,
      static_mac: one(true, true, false),
      filter_mac: one(false, false, true),
      bvi_mac: fc.constant(false),
    }),
  ),
  message(
    1,
    'bd_ip_mac_add_del',
    fc.record({
      is_add: mostlyAdd,
      entry: fc.record({ bd_id: domainId, ip: address, mac }),
    }),
  ),
  message(
    1,
    'sw_interface_set_l2_xconnect',
    fc.record({ rx_sw_if_index: anyIndex, tx_sw_if_index: anyIndex, enable: mostlyAdd }),
  ),
  message(
    3,
    'vxlan_add_del_tunnel_v3',
    fc.record({
      is_add: mostlyAdd,
      instance: one(NONE, NONE, NONE, 1),
      src_address: one('10.1.1.1', 'fd00::1').map(toAddress),
      dst_address: one('10.1.1.1', '10.3.3.3', 'fd00::1', 'fd00::2', '224.0.0.9').map(toAddress),
      src_port: fc.constant(0),
      dst_port: one(0, 4790),
      mcast_sw_if_index: fc.constant(NONE),
      encap_vrf_id: tableId,
      decap_next_index: fc.constant(NONE),
      vni: one(10, 11),
      is_l3: fc.constant(false),
    }),
  ),
  message(
    2,
    'af_packet_create_v3',
    fc.record({
      mode: one(1, 1, 9),
      hw_addr: mac,
      use_random_hw_addr: isAdd,
      host_if_name: one('va', 'vc', 'nope'),
      rx_frame_size: fc.constant(0),
      tx_frame_size: fc.constant(0),
      rx_frames_per_block: fc.constant(0),
      tx_frames_per_block: fc.constant(0),
      flags: fc.constant(0),
      num_rx_queues: fc.constant(1),
      num_tx_queues: fc.constant(1),
    }),
  ),
  message(1, 'af_packet_delete', fc.record({ host_if_name: one('va', 'vc', 'nope') })),
];

const loopback = oneMessage('create_loopback', { mac_address: noMac });

const join = (rx_sw_if_index: number, bd_id: number, port_type: number, enable = true) =>
  oneMessage('sw_interface_set_l2_bridge', { rx_sw_if_index, bd_id, port_type, shg: 0, enable });

const setMac = (sw_if_index: number, text: string) =>
  oneMessage('sw_interface_set_mac_address', { sw_if_index, mac_address: toMac(text) });

const staticMac = (sw_if_index: number, bd_id: number, text: string) =>
  oneMessage('l2fib_add_del', {
    mac: toMac(text),
    bd_id,
    sw_if_index,
    ...{ is_add: true, static_mac: true, filter_mac: false, bvi_mac: false },
  });

const BVI = 1;
const [first, second] = ['02:fe:00:00:00:01', '02:fe:00:00:00:02'];

const examples: readonly Example[] = [
  {
    name: 'a refused second BVI has left the domain whose BVI it was',
    messages: [loopback, loopback, join(1, 1, BVI), join(2, 2, BVI), join(1, 2, BVI)],
  },
  {
    name: 'a refused second BVI is half in the domain, until it is taken out',
    messages: [
      ...[loopback, loopback, loopback, join(2, 1, BVI)],
      oneMessage('sw_interface_set_l2_xconnect', {
        ...{ rx_sw_if_index: 1, tx_sw_if_index: 3, enable: true },
      }),
      ...[join(1, 1, BVI), staticMac(1, 1, first), join(1, 1, BVI, false), staticMac(1, 1, second)],
    ],
  },
  {
    name: 'a BVI that leaves takes only its own MAC along',
    messages: [
      ...[loopback, loopback, setMac(1, first), join(1, 1, BVI), join(2, 1, 0)],
      ...[staticMac(2, 1, first), join(1, 1, BVI, false)],
    ],
  },
  {
    name: 'the MAC of a BVI that is no loopback does not follow it',
    messages: [
      oneMessage('af_packet_create_v3', {
        ...{ mode: 1, hw_addr: toMac(first), use_random_hw_addr: false, host_if_name: 'va' },
        ...{ rx_frame_size: 0, tx_frame_size: 0, rx_frames_per_block: 0, tx_frames_per_block: 0 },
        ...{ flags: 0, num_rx_queues: 1, num_tx_queues: 1 },
      }),
      ...[join(1, 1, BVI), setMac(1, second)],
    ],
  },
];

/** Links of the kernel, in pairs. */
const pairs = [
  ['va', 'vb'],
  ['vc', 'vd'],
] as const;

export const baseMessages: Differential = {
  name: 'the simulated VPP against a real one',
  file: 'test/integration/vpp/differential.test.ts',
  source: 'test/integration/vpp/differential/base-messages.ts',
  generators,
  examples,
  maxLength: 80,
  async prepare(real, sim) {
    for (const [a, b] of pairs) {
      const pair = ['ip', 'link', 'add', a, 'type', 'veth', 'peer', 'name', b];
      execFileSync('nsenter', [`--net=${real.namespace}`, ...pair]);
      await sim.linux.createVeth(
        { namespace: undefined, name: a },
        { namespace: undefined, name: b },
      );
    }
  },
  stateOf: readVppState,
};
