import type { KeyedValue } from '#kvscheduler/api/descriptor.ts';
import { vppArpModel } from '#models/vpp/arp.ts';
import { bandwidthLimitModel } from '#models/vpp/bandwidth-limit.ts';
import { bridgeDomainModel } from '#models/vpp/bridge-domain.ts';
import { vppInterfaceModel } from '#models/vpp/interface.ts';
import { vppRouteModel } from '#models/vpp/route.ts';
import { segmentationModel } from '#models/vpp/segmentation.ts';
import { vrfTableModel } from '#models/vpp/vrf-table.ts';
import { keyedValue, loop } from '../../compliance/example-values.ts';
import { type Family, family } from '../family.ts';

const model = vppInterfaceModel;

export function tables(...ids: readonly number[]): readonly KeyedValue[] {
  return ids.flatMap((id) =>
    (['IPV4', 'IPV6'] as const).map((protocol) =>
      keyedValue(vrfTableModel, { id, protocol, label: `table-${id}-${protocol}` }),
    ),
  );
}

const vxlan = { src_address: '192.168.16.1', dst_address: '192.168.16.2', vni: 10 };
const macs = ['02:fe:00:00:00:01', '02:fe:00:00:00:02'];

/** @param links of the kernel that VPP can bind to */
export function interfaceFamilies([link, otherLink]: readonly [string, string]): readonly Family[] {
  return [
    family('loopback', {
      model,
      setup: tables(1, 2),
      base: { name: 'loop', type: 'SOFTWARE_LOOPBACK', ip_addresses: ['10.50.1.1/24'] },
      fields: {
        enabled: [true],
        vrf: [1, 2],
        mtu: [1400, 9000],
        phys_address: macs,
        ip_addresses: [
          [],
          ['10.50.2.1/24', '10.50.1.1/24'],
          ['fd50::1/64', '10.50.1.1/32'],
          ['10.50.1.1/24', '10.50.1.1/24', 'fd50::1/64', 'FD50:0::1/64'],
        ],
      },
    }),
    family('segmentation', {
      model: segmentationModel,
      setup: [loop('segmenting')],
      base: { interface: 'segmenting' },
    }),
    family('bandwidth limit', {
      model: bandwidthLimitModel,
      setup: [loop('limited')],
      base: { interface: 'limited', direction: 'OUTPUT', rate_kbps: 1_000, burst_bytes: 262_144 },
      fields: { rate_kbps: [1, 0xffff_ffff], burst_bytes: [65_549, 0x7fff_ffff] },
    }),
    family('interface that borrows its address', {
      model,
      setup: [
        ...tables(1),
        loop('lender1', { vrf: 1, enabled: true, ip_addresses: ['10.51.1.1/24'] }),
        loop('lender2', { enabled: true, ip_addresses: ['10.51.2.1/24', 'fd51::1/64'] }),
      ],
      base: {
        name: 'borrower',
        type: 'SOFTWARE_LOOPBACK',
        unnumbered: { interface_with_ip: 'lender1' },
      },
      fields: { enabled: [true], unnumbered: [{ interface_with_ip: 'lender2' }], vrf: [1] },
      others: {
        'plain in table 1': { name: 'borrower', type: 'SOFTWARE_LOOPBACK', vrf: 1 },
        'addresses of its own': {
          name: 'borrower',
          type: 'SOFTWARE_LOOPBACK',
          vrf: 1,
          ip_addresses: ['10.51.3.1/24'],
        },
      },
    }),
    family('interface on which much hangs', {
      model,
      setup: [...tables(1), loop('other', { enabled: true })],
      base: {
        name: 'base',
        type: 'SOFTWARE_LOOPBACK',
        enabled: true,
        ip_addresses: ['10.52.1.1/24'],
      },
      fields: {
        enabled: [false],
        vrf: [1],
        ip_addresses: [[], ['10.52.1.1/24', '10.52.2.1/24'], ['10.52.2.1/24']],
      },
      dependents: [
        loop('guest', { enabled: true, unnumbered: { interface_with_ip: 'base' } }),
        keyedValue(vppRouteModel, {
          dst_network: '10.53.0.0/16',
          next_hop_addr: '10.52.1.2',
          outgoing_interface: 'base',
        }),
        keyedValue(vppArpModel, {
          interface: 'base',
          ip_address: '10.52.1.2',
          phys_address: macs[0]!,
          static: true,
        }),
      ],
    }),
    family('interface whose name has superfluous slashes', {
      model,
      base: {
        name: 'slashed//1/',
        type: 'SOFTWARE_LOOPBACK',
        enabled: true,
        ip_addresses: ['10.59.1.1/24'],
      },
      fields: { enabled: [false], ip_addresses: [[]] },
      dependents: [
        loop('borrower-of-slashed', { unnumbered: { interface_with_ip: '/slashed/1' } }),
        keyedValue(vppRouteModel, {
          dst_network: '10.58.0.0/16',
          next_hop_addr: '10.59.1.2',
          outgoing_interface: 'slashed//1',
        }),
        keyedValue(vppArpModel, {
          interface: 'slashed/1//',
          ip_address: '10.59.1.3',
          phys_address: macs[0]!,
        }),
        keyedValue(bridgeDomainModel, {
          name: 'bd-of-slashed',
          forward: true,
          interfaces: [{ name: 'slashed//1', bridged_virtual_interface: true }],
        }),
      ],
    }),
    family('member of a bridge domain', {
      model,
      setup: [
        loop('bvi', { enabled: true }),
        keyedValue(bridgeDomainModel, {
          name: 'bd-of-member',
          forward: true,
          interfaces: [
            { name: 'bvi', bridged_virtual_interface: true },
            { name: 'member', split_horizon_group: 1 },
          ],
        }),
      ],
      base: { name: 'member', type: 'VXLAN_TUNNEL', enabled: true, vxlan },
      fields: { enabled: [false], vxlan: [{ ...vxlan, vni: 11 }], phys_address: macs },
      others: {
        'a loopback': { name: 'member', type: 'SOFTWARE_LOOPBACK' },
        'an AF_PACKET interface': {
          name: 'member',
          type: 'AF_PACKET',
          afpacket: { host_if_name: link },
        },
      },
    }),
    family('TAP', {
      model,
      requiresTaps: true,
      setup: tables(1),
      base: { name: 'tap', type: 'TAP', tap: { version: 2 } },
      fields: {
        enabled: [true],
        vrf: [1],
        mtu: [1450],
        phys_address: macs,
        ip_addresses: [['10.54.1.1/24'], ['fd54::1/64']],
        tap: [
          { version: 2, enable_gso: true },
          { version: 2, host_if_name: 'vpp1' },
          { version: 2, rx_ring_size: 1024, tx_ring_size: 512 },
        ],
        rx_modes: [[{ default_mode: true, mode: 'DEFAULT' }], [{ queue: 0, mode: 'INTERRUPT' }]],
      },
    }),
    family('AF_PACKET', {
      model,
      setup: tables(1),
      base: { name: 'afp', type: 'AF_PACKET', afpacket: { host_if_name: link } },
      fields: {
        enabled: [true],
        vrf: [1],
        mtu: [1450],
        phys_address: macs,
        ip_addresses: [['10.55.1.1/24']],
        afpacket: [{ host_if_name: otherLink }],
        rx_modes: [[{ default_mode: true, mode: 'POLLING' }], [{ queue: 0, mode: 'INTERRUPT' }]],
        rx_placements: [[{ queue: 0, main_thread: true }]],
        set_dhcp_client: [true],
      },
    }),
    family('VXLAN tunnel', {
      model,
      setup: tables(1),
      base: { name: 'tunnel', type: 'VXLAN_TUNNEL', vxlan },
      fields: {
        enabled: [true],
        vrf: [1],
        mtu: [1400],
        phys_address: macs,
        vxlan: [
          { ...vxlan, vni: 11 },
          { ...vxlan, dst_address: '192.168.16.3' },
          { src_address: 'fd56::1', dst_address: 'fd56::2', vni: 10 },
        ],
        ip_addresses: [['10.56.1.1/24']],
      },
    }),
    family('interface that changes its type', {
      model,
      base: { name: 'any', type: 'SOFTWARE_LOOPBACK', ip_addresses: ['10.57.1.1/24'] },
      others: {
        'VXLAN tunnel': { name: 'any', type: 'VXLAN_TUNNEL', vxlan },
        'VXLAN tunnel with address': {
          name: 'any',
          type: 'VXLAN_TUNNEL',
          vxlan,
          ip_addresses: ['10.57.1.1/24'],
        },
        'AF_PACKET with address': {
          name: 'any',
          type: 'AF_PACKET',
          afpacket: { host_if_name: link },
          ip_addresses: ['10.57.1.1/24'],
          phys_address: macs[0]!,
        },
        'loopback with the MAC of the AF_PACKET': {
          name: 'any',
          type: 'SOFTWARE_LOOPBACK',
          phys_address: macs[0]!,
        },
      },
    }),
  ];
}
