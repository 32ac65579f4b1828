/** Flowprobe: the same random messages to the simulated VPP and a real one. */
import fc from 'fast-check';
import { type MessageGenerator, message } from '#test/simulator/random-requests.ts';
import { plain } from '#test/simulator/vpp-state.ts';
import { toAddress } from '#vpp/binapi/addresses.ts';
import type { VppClient } from '#vpp/binapi/api.ts';
import { isFeatureEnabled } from '#vpp/descriptors/interface/feature-state.ts';
import type { Differential } from './suite.ts';

const NONE = 0xffff_ffff;
const one = fc.constantFrom;
const noMac = new Uint8Array(6);
/** Those of local0, of loopbacks, and of none. */
const index = one(0, 1, 2, 3, 99);

const arcs = [
  { arc: 'device-input', node: 'flowprobe-input-l2', end: 'ethernet-input' },
  { arc: 'interface-output', node: 'flowprobe-output-l2', end: 'interface-output-arc-end' },
  { arc: 'ip4-unicast', node: 'flowprobe-input-ip4', end: 'ip4-lookup' },
  { arc: 'ip6-output', node: 'flowprobe-output-ip6', end: 'interface-output' },
] as const;

const generators: readonly MessageGenerator[] = [
  message(2, 'create_loopback', fc.record({ mac_address: fc.constant(noMac) })),
  message(1, 'delete_loopback', fc.record({ sw_if_index: one(1, 2, 3) })),
  message(
    4,
    'set_ipfix_exporter',
    fc.record({
      collector_address: one('0.0.0.0', '192.0.2.1', '192.0.2.2', 'fd00::1').map(toAddress),
      collector_port: one(0, 4740, 0xffff),
      src_address: one('0.0.0.0', '192.0.2.9', 'fd00::9').map(toAddress),
      vrf_id: one(NONE, NONE, 0, 7),
      path_mtu: one(NONE, 67, 68, 1_300, 1_450, 1_451),
      template_interval: one(NONE, 1, 0x7fff_ffff),
      udp_checksum: fc.boolean(),
    }),
  ),
  message(
    3,
    'flowprobe_set_params',
    fc.record({
      record_flags: one(0, 6, 6, 6),
      active_timer: one(NONE, 0, 5, 9),
      passive_timer: one(NONE, 0, 6),
    }),
  ),
  message(
    6,
    'flowprobe_interface_add_del',
    fc
      .record({ is_add: one(true, true, false), which: one(0, 1, 2, 2, 3), sw_if_index: index })
      // VPP takes off only the direction that it is asked to
      .map((each) => ({ ...each, direction: each.which % 3 })),
  ),
];

async function stateOf(client: VppClient): Promise<unknown> {
  const interfaces = await client.dump('sw_interface_dump', {
    sw_if_index: NONE,
    name_filter_valid: false,
    name_filter: '',
  });
  const features = interfaces.flatMap(({ sw_if_index }) =>
    arcs.map(async (arc) => ({
      sw_if_index,
      node: arc.node,
      isEnabled: await isFeatureEnabled(client, sw_if_index, arc),
    })),
  );
  return {
    exporter: (await client.dump('ipfix_exporter_dump', {})).map(plain),
    parameters: plain(await client.request('flowprobe_get_params', {})),
    probes: await client.dump('flowprobe_interface_dump', {}),
    features: await Promise.all(features),
  };
}

export const flowProbeMessages: Differential = {
  name: 'flowprobe of the simulated VPP against a real one',
  file: 'test/integration/vpp/differential-flow-probe.test.ts',
  source: 'test/integration/vpp/differential/flow-probe-messages.ts',
  generators,
  maxLength: 60,
  stateOf,
};
