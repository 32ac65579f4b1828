import { ipRedirectModel } from '#models/vpp/ip-redirect.ts';
import { puntToHostModel } from '#models/vpp/punt-to-host.ts';
import { stnRuleModel } from '#models/vpp/stn-rule.ts';
import { changing, keyedValue, loop } from './example-values.ts';
import type { Example } from './suite.ts';

const host = loop('host', { enabled: true, ip_addresses: ['10.1.1.1/24', 'fd00::1/64'] });

/** Packets to the host's addresses: STN rules, redirects and sockets. */
export const puntExamples: readonly Example[] = [
  {
    name: 'STN rule',
    setup: [host],
    essential: true,
    value: keyedValue(stnRuleModel, { ip_address: '192.168.16.1', interface: 'host' }),
  },
  {
    name: 'STN rule for an IPv6 address beside another one',
    setup: [host, keyedValue(stnRuleModel, { ip_address: '192.168.16.1', interface: 'host' })],
    value: keyedValue(stnRuleModel, { ip_address: 'fd00:16::1', interface: 'host' }),
  },
  {
    name: 'redirect of punted packets of both families',
    setup: [host],
    essential: true,
    ...changing(
      ipRedirectModel,
      { l3_protocol: 'ALL', tx_interface: 'host' },
      { next_hop: '10.1.1.2' },
      false,
    ),
  },
  {
    name: 'redirect of punted IPv4 packets of one interface',
    setup: [host, loop('in'), loop('other')],
    ...changing(
      ipRedirectModel,
      { l3_protocol: 'IPV4', tx_interface: 'host', rx_interface: 'in', next_hop: '10.1.1.2' },
      { rx_interface: 'other', next_hop: '10.1.1.3' },
      false,
    ),
  },
  {
    name: 'redirect of punted IPv6 packets beside the one of IPv4',
    setup: [
      host,
      keyedValue(ipRedirectModel, {
        l3_protocol: 'IPV4',
        tx_interface: 'host',
        next_hop: '10.1.1.2',
      }),
    ],
    ...changing(
      ipRedirectModel,
      { l3_protocol: 'IPV6', tx_interface: 'host', next_hop: 'fd00::2' },
      { next_hop: '' },
      false,
    ),
  },
  {
    name: 'socket of the host for a port',
    essential: true,
    ...changing(
      puntToHostModel,
      { l3_protocol: 'ALL', l4_protocol: 'UDP', port: 9000, socket_path: '/run/contiv-a.sock' },
      { socket_path: '/run/contiv-b.sock' },
      false,
    ),
  },
  {
    name: 'socket of the host for a port of IPv6 alone',
    value: keyedValue(puntToHostModel, {
      l3_protocol: 'IPV6',
      l4_protocol: 'UDP',
      port: 9001,
      socket_path: '/run/contiv-a.sock',
    }),
  },
];
