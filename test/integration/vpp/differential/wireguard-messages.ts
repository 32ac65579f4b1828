/** WireGuard: the same random messages to the simulated VPP and a real one. */
import fc from 'fast-check';
import { parseWireguardKey } from '#models/vpp/wireguard-key.ts';
import { wireguardPeers } from '#test/descriptors/compliance/vpp-state.ts';
import { type MessageGenerator, message } from '#test/simulator/random-requests.ts';
import { plain } from '#test/simulator/vpp-state.ts';
import { testKeyPair } from '#test/support/wireguard-keys.ts';
import { toAddress, toPrefix } from '#vpp/binapi/addresses.ts';
import type { VppClient } from '#vpp/binapi/api.ts';
import type { Differential } from './suite.ts';

const NONE = 0xffff_ffff;
const one = fc.constantFrom;
const noKey = new Uint8Array(32);

const own = ['a', 'b'].map((name) => parseWireguardKey(testKeyPair(name).privateKey) ?? noKey);
const peers = ['c', 'd', 'e'].map(
  (name) => parseWireguardKey(testKeyPair(name).publicKey) ?? noKey,
);
/** 1 is a loopback. */
const index = one(1, 2, 3, 4, 99);
let port = 0;

const generators: readonly MessageGenerator[] = [
  message(
    3,
    'wireguard_interface_create',
    fc
      .record({
        user_instance: one(NONE, NONE, 0, 5, 16_384),
        private_key: one(...own),
        src_ip: one('192.168.16.1', 'fd16::1').map(toAddress),
      })
      .map((each) => ({
        interface: {
          ...each,
          sw_if_index: NONE,
          public_key: noKey,
          // two with one port would damage memory of VPP when the second one is deleted
          port: 1024 + (port++ % 60_000),
        },
        generate_key: false,
      })),
  ),
  message(2, 'wireguard_interface_delete', fc.record({ sw_if_index: index })),
  message(2, 'sw_interface_set_flags', fc.record({ sw_if_index: one(2, 3, 4), flags: one(0, 1) })),
  message(
    5,
    'wireguard_peer_add',
    fc.record({
      peer: fc.record({
        peer_index: one(NONE),
        public_key: one(...peers),
        port: one(51_820, 51_821),
        persistent_keepalive: one(0, 25),
        table_id: one(0),
        endpoint: one('192.168.16.2', '192.168.16.3').map(toAddress),
        sw_if_index: index,
        flags: one(0),
        allowed_ips: fc.array(one('10.1.2.0/24', '10.1.3.1/24', 'fd01:2::/64').map(toPrefix), {
          maxLength: 3,
        }),
      }),
    }),
  ),
  message(3, 'wireguard_peer_remove', fc.record({ peer_index: one(0, 1, 2, 9) })),
  message(
    1,
    'want_wireguard_peer_events',
    fc.record({
      sw_if_index: one(NONE, 2),
      peer_index: one(NONE, 0, 9),
      enable_disable: one(0, 1),
      pid: one(7),
    }),
  ),
];

async function stateOf(client: VppClient): Promise<unknown> {
  const interfaces = await client.dump('sw_interface_dump', {
    sw_if_index: NONE,
    name_filter_valid: false,
    name_filter: '',
  });
  const tunnels = await client.dump('wireguard_interface_dump', {
    sw_if_index: NONE,
    show_private_key: false,
  });
  return {
    interfaces: interfaces
      .filter(({ interface_dev_type }) => interface_dev_type !== 'Loopback')
      .map(plain),
    tunnels: tunnels.map(plain),
    peers: (await wireguardPeers(client)).map(plain),
  };
}

export const wireguardMessages: Differential = {
  name: 'WireGuard of the simulated VPP against a real one',
  file: 'test/integration/vpp/differential-wireguard.test.ts',
  source: 'test/integration/vpp/differential/wireguard-messages.ts',
  generators,
  maxLength: 60,
  async prepare(...sides) {
    for (const { client } of sides)
      await client.request('create_loopback', { mac_address: new Uint8Array(6) });
  },
  stateOf,
};
