import { vppArpModel } from '#models/vpp/arp.ts';
import { ipScanNeighborModel } from '#models/vpp/ip-scan-neighbor.ts';
import { vppRouteModel } from '#models/vpp/route.ts';
import { vrfTableModel } from '#models/vpp/vrf-table.ts';
import { keyedValue, loop } from '../../compliance/example-values.ts';
import { type Family, family } from '../family.ts';
import { tables } from './interfaces.ts';

const out = loop('out', { enabled: true, ip_addresses: ['10.70.1.1/24', 'fd70::1/64'] });

export const layer3Families: readonly Family[] = [
  family('table', {
    model: vrfTableModel,
    base: { id: 7, label: 'one' },
    fields: {
      label: ['', 'another'],
      flow_hash_settings: [
        { use_src_ip: true, use_dst_ip: true },
        { use_src_ip: true, symmetric: true },
      ],
    },
    setup: [],
    dependents: [
      loop('in-table', { vrf: 7, enabled: true, ip_addresses: ['10.71.1.1/24'] }),
      keyedValue(vppRouteModel, {
        vrf_id: 7,
        dst_network: '10.72.0.0/16',
        next_hop_addr: '10.71.1.2',
        outgoing_interface: 'in-table',
      }),
      keyedValue(vppRouteModel, { type: 'DROP', vrf_id: 7, dst_network: '10.73.0.0/16' }),
      keyedValue(vppRouteModel, { type: 'INTER_VRF', dst_network: '10.74.0.0/16', via_vrf_id: 7 }),
    ],
  }),
  family('table of IPv6', {
    model: vrfTableModel,
    base: { id: 7, protocol: 'IPV6' },
    fields: { label: ['one', 'another'] },
    dependents: [
      keyedValue(vppRouteModel, { type: 'DROP', vrf_id: 7, dst_network: 'fd73::/32' }),
      loop('in-table6', { vrf: 7, enabled: true, ip_addresses: ['fd71::1/64'] }),
    ],
  }),
  family('table 0', {
    model: vrfTableModel,
    base: { id: 0, label: 'mainVRF' },
    fields: { label: ['', 'another'], flow_hash_settings: [{ use_src_ip: true }] },
  }),
  family('route over an interface', {
    model: vppRouteModel,
    setup: [
      out,
      keyedValue(vppRouteModel, {
        dst_network: '10.75.0.0/16',
        next_hop_addr: '10.70.1.9',
        outgoing_interface: 'out',
        weight: 2,
      }),
    ],
    base: { dst_network: '10.75.0.0/16', next_hop_addr: '10.70.1.2', outgoing_interface: 'out' },
    fields: { weight: [1, 5, 255], preference: [1, 7] },
  }),
  family('route of IPv6 over an interface', {
    model: vppRouteModel,
    setup: [out],
    base: { dst_network: 'fd75::/32', next_hop_addr: 'fd70::2', outgoing_interface: 'out' },
    fields: { weight: [2], preference: [3] },
  }),
  family('route to a host on an interface', {
    model: vppRouteModel,
    setup: [out],
    base: { dst_network: '10.70.1.2/32', outgoing_interface: 'out' },
    fields: { weight: [3], preference: [1] },
  }),
  family('route through a next hop', {
    model: vppRouteModel,
    setup: [...tables(1, 2), out],
    base: { dst_network: '10.76.0.0/16', next_hop_addr: '10.70.1.2' },
    fields: { weight: [4], preference: [2] },
    others: {
      'of table 1': {
        type: 'INTER_VRF',
        dst_network: '10.76.0.0/16',
        next_hop_addr: '10.70.1.2',
        via_vrf_id: 1,
      },
      'of table 2': {
        type: 'INTER_VRF',
        dst_network: '10.76.0.0/16',
        next_hop_addr: '10.70.1.2',
        via_vrf_id: 2,
        weight: 9,
      },
    },
  }),
  family('route to a host through the host itself', {
    model: vppRouteModel,
    setup: [...tables(1), out],
    base: { dst_network: '10.70.1.4/32', next_hop_addr: '10.70.1.4' },
    fields: { weight: [4], preference: [2] },
    others: {
      'of table 1': {
        type: 'INTER_VRF',
        dst_network: '10.70.1.4/32',
        next_hop_addr: '10.70.1.4',
        via_vrf_id: 1,
      },
      'that drops': { type: 'DROP', dst_network: '10.70.1.4/32', next_hop_addr: '10.70.1.4' },
    },
  }),
  family('route of IPv6 to a network through its first address', {
    model: vppRouteModel,
    setup: [out],
    base: { dst_network: 'fd78::/32', next_hop_addr: 'fd78::' },
    fields: { weight: [4] },
  }),
  family('route without a next hop', {
    model: vppRouteModel,
    setup: tables(1, 2),
    base: { type: 'DROP', dst_network: '10.77.0.0/16' },
    fields: { weight: [3], preference: [5] },
    others: {
      'reported as unreachable': { type: 'UNREACHABLE', dst_network: '10.77.0.0/16' },
      'into table 1': { type: 'INTER_VRF', dst_network: '10.77.0.0/16', via_vrf_id: 1 },
      'into table 2': { type: 'INTER_VRF', dst_network: '10.77.0.0/16', via_vrf_id: 2 },
      'by the source into table 2': {
        type: 'SOURCE_VRF',
        dst_network: '10.77.0.0/16',
        via_vrf_id: 2,
      },
      'into table 2, less liked': {
        type: 'INTER_VRF',
        dst_network: '10.77.0.0/16',
        via_vrf_id: 2,
        preference: 4,
      },
    },
  }),
  // Not out of table 1, where tunnels are: VPP follows the way to the other end of a tunnel, and where
  // a route led into another table on that way, that table stays permanently, without any content.
  family('default route out of a table', {
    model: vppRouteModel,
    setup: tables(1, 2),
    base: { type: 'INTER_VRF', vrf_id: 2, dst_network: '::/0' },
    others: {
      drops: { type: 'DROP', vrf_id: 2, dst_network: '::/0' },
      'into table 1': { type: 'INTER_VRF', vrf_id: 2, dst_network: '::/0', via_vrf_id: 1 },
    },
  }),
  family('neighbor', {
    model: vppArpModel,
    setup: [out],
    base: { interface: 'out', ip_address: '10.70.1.3', phys_address: '02:fe:00:00:00:03' },
    fields: { static: [true], phys_address: ['02:fe:00:00:00:04'] },
  }),
  family('neighbor of IPv6', {
    model: vppArpModel,
    setup: [out],
    base: { interface: 'out', ip_address: 'fd70::3', phys_address: '02:fe:00:00:00:03' },
    fields: { static: [true], phys_address: ['02:fe:00:00:00:04'] },
  }),
  family('aging of neighbors', {
    model: ipScanNeighborModel,
    base: { mode: 'IPV4', scan_interval: 1, stale_threshold: 4 },
    fields: { mode: ['IPV6', 'BOTH', 'DISABLED'], stale_threshold: [0, 9], scan_interval: [3] },
  }),
];
