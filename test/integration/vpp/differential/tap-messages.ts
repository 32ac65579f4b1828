/** TAPs and what is configured on them: the same random messages to the simulated VPP and a real one. */
import fc from 'fast-check';
import { type MessageGenerator, message } from '#test/simulator/random-requests.ts';
import { plain, readVppState } from '#test/simulator/vpp-state.ts';
import { toMac, toPrefix } from '#vpp/binapi/addresses.ts';
import type { VppClient } from '#vpp/binapi/api.ts';
import type { Differential } from './suite.ts';

const NONE = 0xffff_ffff;
const one = fc.constantFrom;
const index = one(1, 2, 3, 9);
const noMac = new Uint8Array(6);
const noPrefix4 = { address: new Uint8Array(4), len: 0 };
const noPrefix6 = { address: new Uint8Array(16), len: 0 };
const GSO = 1;
/** Of 16 bytes: VPP appends what follows in its memory, which is compared as one character. */
const FULL_TAG = '0123456789abcdef';

const tap = fc
  .record({
    id: one(NONE, NONE, 0, 1),
    use_random_mac: fc.boolean(),
    rx_ring_sz: one(0, 256, 1024, 1000),
    tx_ring_sz: one(0, 512),
    host_mtu_set: fc.boolean(),
    // VPP attaches a second TAP of one host name to the link of the first as another queue
    host_if_name: one('', '', '', 'lo'),
    tap_flags: one(0, 0, GSO),
    tag: one('', 'a', 'b', FULL_TAG),
  })
  .map((choice) => ({
    ...choice,
    mac_address: toMac('02:fe:00:00:00:01'),
    num_rx_queues: 1,
    num_tx_queues: 1,
    host_mtu_size: 1450,
    // the MAC that the kernel makes up is different on each machine
    host_mac_addr_set: true,
    host_mac_addr: toMac('02:fe:00:00:00:02'),
    host_ip4_prefix_set: false,
    host_ip4_prefix: noPrefix4,
    host_ip6_prefix_set: false,
    host_ip6_prefix: noPrefix6,
    host_ip4_gw_set: false,
    host_ip4_gw: new Uint8Array(4),
    host_ip6_gw_set: false,
    host_ip6_gw: new Uint8Array(16),
    host_namespace_set: false,
    host_namespace: '',
    host_if_name_set: choice.host_if_name !== '',
    host_bridge_set: false,
    host_bridge: '',
  }));

const generators: readonly MessageGenerator[] = [
  message(1, 'create_loopback', fc.record({ mac_address: fc.constant(noMac) })),
  message(5, 'tap_create_v3', tap),
  message(2, 'tap_delete_v2', fc.record({ sw_if_index: index })),
  message(2, 'sw_interface_set_flags', fc.record({ sw_if_index: index, flags: one(0, 1, 1) })),
  message(
    1,
    'sw_interface_set_mac_address',
    fc.record({ sw_if_index: index, mac_address: fc.constant(toMac('02:fe:00:00:00:08')) }),
  ),
  message(
    1,
    'sw_interface_set_mtu',
    fc.record({ sw_if_index: index, mtu: one([1300, 0, 0, 0], [0, 1280, 0, 0]) }),
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
    2,
    'sw_interface_add_del_address',
    fc.record({
      sw_if_index: index,
      is_add: one(true, true, false),
      del_all: fc.constant(false),
      prefix: one('10.1.1.1/24', '10.1.2.1/24').map(toPrefix),
    }),
  ),
];

async function stateOf(client: VppClient) {
  const taps = await client.dump('sw_interface_tap_v2_dump', { sw_if_index: NONE });
  const state = await readVppState(client);
  const interfaces = (state['interfaces'] as { readonly tag: string }[]).map((one) => ({
    ...one,
    tag: comparableTag(one.tag),
  }));
  return { ...state, interfaces, taps: taps.map(plain) };
}

/** VPP copies what follows the full tag in memory, which may be nothing. */
function comparableTag(tag: string): string {
  return tag.startsWith(FULL_TAG) ? FULL_TAG : tag;
}

export const tapMessages: Differential = {
  name: 'TAPs against a real VPP',
  file: 'test/integration/vpp/differential-taps.test.ts',
  source: 'test/integration/vpp/differential/tap-messages.ts',
  generators,
  maxLength: 40,
  stateOf,
};
