import { vppInterfaceModel } from '#models/vpp/interface.ts';
import { wireguardPeerModel } from '#models/vpp/wireguard-peer.ts';
import { exampleKeys, testKeyPair } from '#test/support/wireguard-keys.ts';
import { keyedValue, table } from '../../compliance/example-values.ts';
import { nextHop, wireguard } from '../../compliance/wireguard-examples.ts';
import { type Family, family } from '../family.ts';

const [own, otherOwn, third] = exampleKeys.map(({ publicKey }) => publicKey) as [
  string,
  string,
  string,
];
const peer = (name: string) => testKeyPair(name).publicKey;

const link = { src_addr: '192.168.18.1', port: 51_900, public_key: own };
const end = { endpoint: '192.168.18.2', port: 51_900, wg_if_name: 'secure' } as const;

const secure = wireguard('secure', {
  wireguard: { src_addr: '192.168.18.1', port: 51_901, public_key: third },
});

export const wireguardFamilies: readonly Family[] = [
  family('interface of WireGuard', {
    model: vppInterfaceModel,
    setup: [table(1)],
    base: { name: 'wireguard', type: 'WIREGUARD_TUNNEL', wireguard: link },
    fields: {
      enabled: [true],
      vrf: [1],
      mtu: [1400],
      wireguard: [
        { ...link, public_key: otherOwn },
        { ...link, port: 51_902 },
        { ...link, src_addr: 'fd18::1' },
      ],
      ip_addresses: [['10.59.1.1/24'], ['10.59.1.1/24', 'fd59::1/64']],
    },
    others: { 'a loopback': { name: 'wireguard', type: 'SOFTWARE_LOOPBACK' } },
  }),
  family('peer of WireGuard', {
    model: wireguardPeerModel,
    setup: [
      secure,
      keyedValue(wireguardPeerModel, {
        ...end,
        endpoint: '192.168.18.9',
        public_key: peer('beside'),
        allowed_ips: ['10.60.9.0/24'],
      }),
      nextHop('secure', '10.60.2.1'),
      nextHop('secure', '10.60.2.129'),
    ],
    base: { ...end, public_key: peer('a'), allowed_ips: ['10.60.2.0/24'] },
    fields: {
      public_key: [peer('b')],
      persistent_keepalive: [25],
      next_hops: [['10.60.2.1'], ['10.60.2.1', '10.60.2.129']],
      allowed_ips: [
        ['10.60.2.0/24', '10.60.3.0/24'],
        ['10.60.2.0/24', 'fd60::/64', '10.61.0.1/32'],
        ['10.60.2.0/25', '10.60.2.128/25'],
      ],
    },
  }),
];
