/** cnat: the same random messages to the simulated VPP and a real one. */
import fc from 'fast-check';
import { sourceNatPolicies, translations } from '#test/descriptors/compliance/vpp-state.ts';
import { type MessageGenerator, message } from '#test/simulator/random-requests.ts';
import { plain } from '#test/simulator/vpp-state.ts';
import { bytesOfAddress, toAddress } from '#vpp/binapi/addresses.ts';
import type { VppClient } from '#vpp/binapi/api.ts';
import type { Differential } from './suite.ts';

const NONE = 0xffff_ffff;
const one = fc.constantFrom;

const endpoint = (addresses: fc.Arbitrary<string>, port: fc.Arbitrary<number>) =>
  fc
    .record({ addr: addresses.map(toAddress), port })
    .map((each) => ({ ...each, sw_if_index: NONE, if_af: 1 }));

const path = fc.record({
  dst_ep: endpoint(one('fd01::1', 'fd01::2', 'fd01::3'), one(80)),
  src_ep: endpoint(one('::', 'fd01::fffe'), one(0)),
  flags: one(0),
});

const generators: readonly MessageGenerator[] = [
  message(
    5,
    'cnat_translation_update',
    fc.record({
      translation: fc.record({
        vip: endpoint(one('fd05::1', 'fd05::2'), one(80, 81)),
        id: one(0),
        ip_proto: one(6, 17),
        is_real_ip: one(1),
        flags: one(0),
        lb_type: one(0, 1),
        flow_hash_config: one(0, 1),
        // VPP aborts without one, and tells paths apart by their ends
        paths: fc.uniqueArray(path, {
          minLength: 1,
          maxLength: 3,
          selector: ({ dst_ep }) => dst_ep.addr.un[15],
        }),
      }),
    }),
  ),
  message(2, 'cnat_translation_del', fc.record({ id: one(0, 1, 2, 9) })),
  message(
    1,
    'cnat_set_snat_addresses_v2',
    fc.record({
      // VPP would read the table of another one beyond its tables
      fwd_fib_index: one(0),
      ret_fib_index: one(0),
      snat_ip4: one(new Uint8Array(4)),
      snat_ip6: one('::', '::1', 'fd05::9').map(bytesOfAddress),
      sw_if_index: one(NONE),
      flags: one(2),
    }),
  ),
  // a node may be enabled before the first message of cnat only as long as no packet comes
  message(
    2,
    'feature_enable_disable',
    fc.record({
      sw_if_index: one(1, 2),
      enable: fc.boolean(),
      arc_name: fc.constant('ip6-unicast'),
      feature_name: one('cnat-snat-ip6-return', 'none'),
    }),
  ),
];

async function stateOf(client: VppClient): Promise<unknown> {
  return {
    translations: (await translations(client)).map(plain),
    policies: await sourceNatPolicies(client),
  };
}

export const cnatMessages: Differential = {
  name: 'cnat of the simulated VPP against a real one',
  file: 'test/integration/vpp/differential-cnat.test.ts',
  source: 'test/integration/vpp/differential/cnat-messages.ts',
  generators,
  maxLength: 60,
  // their order follows from the numbers, which are read, too
  async prepare(...sides) {
    for (const { client } of sides)
      await client.request('create_loopback', { mac_address: new Uint8Array(6) });
  },
  stateOf,
};
