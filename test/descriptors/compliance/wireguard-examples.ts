import type { KeyedValue } from '#kvscheduler/api/descriptor.ts';
import type { DeepInput } from '#models/model.ts';
import { type VppInterface, vppInterfaceModel } from '#models/vpp/interface.ts';
import { vppRouteModel } from '#models/vpp/route.ts';
import { wireguardPeerModel } from '#models/vpp/wireguard-peer.ts';
import { exampleKeys, testKeyPair } from '#test/support/wireguard-keys.ts';
import { changing, keyedValue, loop, table } from './example-values.ts';
import type { Example } from './suite.ts';

const [own, otherOwn] = exampleKeys.map(({ publicKey }) => publicKey) as [string, string];
const [peer, otherPeer] = ['peer 1', 'peer 2'].map((name) => testKeyPair(name).publicKey) as [
  string,
  string,
];

export function wireguard(name: string, more: DeepInput<VppInterface> = {}): KeyedValue {
  return keyedValue(vppInterfaceModel, {
    name,
    type: 'WIREGUARD_TUNNEL',
    enabled: true,
    wireguard: { src_addr: '192.168.16.1', port: 51_820, public_key: own },
    ...more,
  });
}

/** The route to a next hop by itself, which holds the adjacency of a peer. */
export function nextHop(iface: string, address: string): KeyedValue {
  return keyedValue(vppRouteModel, {
    dst_network: `${address}/${address.includes(':') ? 128 : 32}`,
    next_hop_addr: address,
    outgoing_interface: iface,
  });
}

export const wireguardExamples: readonly Example[] = [
  {
    name: 'interface of WireGuard with MTU in a table',
    setup: [table(3), loop('lender', { enabled: true, vrf: 3, ip_addresses: ['10.58.1.1/24'] })],
    ...changing(
      vppInterfaceModel,
      {
        name: 'wireguard0',
        type: 'WIREGUARD_TUNNEL',
        enabled: true,
        mtu: 1440,
        unnumbered: { interface_with_ip: 'lender' },
        wireguard: { src_addr: '192.168.16.1', port: 51_820, public_key: own },
      },
      { enabled: false, mtu: 1420 },
      true,
    ),
  },
  {
    name: 'interface of WireGuard that gets another key',
    ...changing(
      vppInterfaceModel,
      {
        name: 'wireguard0',
        type: 'WIREGUARD_TUNNEL',
        enabled: true,
        wireguard: { src_addr: 'fd16::1', port: 51_820, public_key: own },
      },
      { wireguard: { src_addr: 'fd16::1', port: 51_820, public_key: otherOwn } },
      false,
    ),
  },
  {
    name: 'peer of WireGuard',
    setup: [
      wireguard('wireguard0'),
      nextHop('wireguard0', '10.2.2.1'),
      nextHop('wireguard0', 'fd01:2::1'),
    ],
    ...changing(
      wireguardPeerModel,
      {
        public_key: peer,
        endpoint: '192.168.16.2',
        port: 51_820,
        persistent_keepalive: 25,
        wg_if_name: 'wireguard0',
        allowed_ips: ['10.1.2.0/24', '10.2.2.1/24', 'fd01:2::/64'],
        next_hops: ['10.2.2.1', 'fd01:2::1'],
      },
      { public_key: otherPeer, allowed_ips: ['10.2.2.0/24'], next_hops: ['10.2.2.1'] },
      false,
    ),
  },
];
