/** Tables, routes, neighbors and proxies. */
import { vppArpModel } from '#models/vpp/arp.ts';
import { ipScanNeighborModel } from '#models/vpp/ip-scan-neighbor.ts';
import { proxyArpModel } from '#models/vpp/proxy-arp.ts';
import { vppRouteModel } from '#models/vpp/route.ts';
import { vrfTableModel } from '#models/vpp/vrf-table.ts';
import { changing, keyedValue, loop, table } from './example-values.ts';
import type { Example } from './suite.ts';

export const layer3Examples: readonly Example[] = [
  {
    name: 'table',
    ...changing(vrfTableModel, { id: 7, label: 'podVRF' }, { label: 'other' }, false),
  },
  { name: 'table without a label', value: keyedValue(vrfTableModel, { id: 7, protocol: 'IPV6' }) },
  {
    name: 'table 0, of which VPP keeps no label',
    ...changing(vrfTableModel, { id: 0, label: 'mainVRF' }, { label: 'other' }, true),
  },
  {
    name: 'table with a flow hash',
    ...changing(
      vrfTableModel,
      { id: 7, label: 'podVRF', flow_hash_settings: { use_src_ip: true, use_dst_ip: true } },
      { flow_hash_settings: { use_src_ip: true, symmetric: true } },
      true,
    ),
  },
  {
    name: 'route via a next hop on an interface',
    setup: [loop('out', { enabled: true, ip_addresses: ['10.1.1.1/24'] })],
    ...changing(
      vppRouteModel,
      { dst_network: '10.9.0.0/16', next_hop_addr: '10.1.1.2', outgoing_interface: 'out' },
      { weight: 5 },
      false,
    ),
  },
  {
    name: 'route to a host on an interface, explicit weight and preference',
    setup: [loop('out', { enabled: true, ip_addresses: ['10.1.1.1/24'] })],
    ...changing(
      vppRouteModel,
      { dst_network: '10.1.1.2/32', outgoing_interface: 'out', weight: 1, preference: 3 },
      { preference: 4 },
      false,
    ),
  },
  {
    name: 'route via a next hop alone',
    setup: [table(1)],
    value: keyedValue(vppRouteModel, {
      vrf_id: 1,
      dst_network: '10.9.0.0/16',
      next_hop_addr: '10.1.1.2',
    }),
  },
  {
    name: 'second path beside the first',
    setup: [
      loop('out', { enabled: true, ip_addresses: ['10.1.1.1/24'] }),
      keyedValue(vppRouteModel, {
        dst_network: '10.9.0.0/16',
        next_hop_addr: '10.1.1.2',
        outgoing_interface: 'out',
      }),
    ],
    value: keyedValue(vppRouteModel, {
      dst_network: '10.9.0.0/16',
      next_hop_addr: '10.1.1.3',
      outgoing_interface: 'out',
    }),
  },
  {
    name: 'route into another table, next hop 0.0.0.0 spelled out',
    setup: [table(1), table(2)],
    ...changing(
      vppRouteModel,
      {
        type: 'INTER_VRF',
        dst_network: '10.1.0.0/16',
        next_hop_addr: '0.0.0.0',
        via_vrf_id: 1,
      },
      { via_vrf_id: 2 },
      false,
    ),
  },
  {
    name: 'route into another table by the source of packets',
    setup: [table(1), table(2)],
    ...changing(
      vppRouteModel,
      { type: 'SOURCE_VRF', dst_network: '10.1.0.0/16', via_vrf_id: 1 },
      { via_vrf_id: 2 },
      false,
    ),
  },
  {
    name: 'default route from a table into the main one',
    setup: [table(1, 'IPV6')],
    value: keyedValue(vppRouteModel, {
      type: 'INTER_VRF',
      vrf_id: 1,
      dst_network: '::/0',
      next_hop_addr: '::',
    }),
  },
  {
    name: 'route via a next hop of another table',
    setup: [table(1)],
    value: keyedValue(vppRouteModel, {
      type: 'INTER_VRF',
      dst_network: '10.1.0.0/16',
      next_hop_addr: '10.5.0.1',
      via_vrf_id: 1,
    }),
  },
  {
    name: 'route that drops',
    setup: [table(1)],
    value: keyedValue(vppRouteModel, { type: 'DROP', vrf_id: 1, dst_network: '10.1.0.0/16' }),
  },
  {
    name: 'route that reports its destination as unreachable',
    value: keyedValue(vppRouteModel, { type: 'UNREACHABLE', dst_network: '10.2.0.0/16' }),
  },
  {
    name: 'IPv6 route on an interface',
    setup: [loop('out', { enabled: true, ip_addresses: ['fd00::1/64'] })],
    value: keyedValue(vppRouteModel, {
      dst_network: 'fd00:9::/48',
      next_hop_addr: 'fd00::2',
      outgoing_interface: 'out',
    }),
  },
  {
    name: 'neighbor',
    setup: [loop('out', { enabled: true, ip_addresses: ['10.1.1.1/24'] })],
    ...changing(
      vppArpModel,
      {
        interface: 'out',
        ip_address: '10.1.1.2',
        phys_address: '02:fe:00:00:00:02',
        static: true,
      },
      { phys_address: '02:fe:00:00:00:03' },
      true,
    ),
  },
  {
    name: 'IPv6 neighbor that becomes dynamic',
    setup: [loop('out', { enabled: true, ip_addresses: ['fd00::1/64'] })],
    ...changing(
      vppArpModel,
      {
        interface: 'out',
        ip_address: 'fd00::2',
        phys_address: '02:fe:00:00:00:02',
        static: true,
      },
      { static: false },
      false,
    ),
  },
  {
    name: 'aging of neighbors',
    ...changing(
      ipScanNeighborModel,
      { mode: 'IPV4', scan_interval: 1, stale_threshold: 4 },
      { mode: 'BOTH', stale_threshold: 5 },
      true,
    ),
  },
  {
    name: 'proxy ARP',
    setup: [table(1), loop('a'), loop('b')],
    ...changing(
      proxyArpModel,
      {
        interfaces: [{ name: 'a' }],
        ranges: [
          { first_ip_addr: '10.1.1.1', last_ip_addr: '10.1.1.254', vrf_id: 1 },
          { first_ip_addr: '10.1.1.1', last_ip_addr: '10.1.1.254' },
        ],
      },
      {
        interfaces: [{ name: 'a' }, { name: 'b' }],
        ranges: [
          { first_ip_addr: '10.1.1.1', last_ip_addr: '10.1.1.254' },
          { first_ip_addr: '10.2.1.1', last_ip_addr: '10.2.1.1', vrf_id: 1 },
        ],
      },
      true,
    ),
  },
  {
    name: 'proxy ARP without ranges',
    setup: [loop('a')],
    ...changing(
      proxyArpModel,
      { interfaces: [{ name: 'a' }] },
      { interfaces: [], ranges: [{ first_ip_addr: '10.1.1.1', last_ip_addr: '10.1.1.1' }] },
      true,
    ),
  },
];
