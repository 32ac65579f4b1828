/** Interfaces of all kinds. */

import { vppArpModel } from '#models/vpp/arp.ts';
import { bandwidthLimitModel } from '#models/vpp/bandwidth-limit.ts';
import { vppInterfaceModel } from '#models/vpp/interface.ts';
import { vppRouteModel } from '#models/vpp/route.ts';
import { segmentationModel } from '#models/vpp/segmentation.ts';
import { changing, keyedValue, loop, table } from './example-values.ts';
import { hostLink } from './host-link-stub.ts';
import type { Example } from './suite.ts';

const iface = vppInterfaceModel;
const longName = `vpp-tap-${'0123456789abcdef'.repeat(4)}`;

const limited = { rate_kbps: 10_000, burst_bytes: 262_144 };

export const bandwidthExamples: readonly Example[] = [
  {
    name: 'limit of what an interface receives',
    setup: [loop('limited', { enabled: true })],
    essential: true,
    ...changing(
      bandwidthLimitModel,
      { interface: 'limited', direction: 'INPUT', ...limited },
      { rate_kbps: 1 },
      false,
    ),
  },
  {
    name: 'limit of what an interface with a long name sends',
    setup: [
      loop(longName, { enabled: true }),
      keyedValue(bandwidthLimitModel, { interface: longName, direction: 'INPUT', ...limited }),
    ],
    ...changing(
      bandwidthLimitModel,
      { interface: longName, direction: 'OUTPUT', ...limited },
      { rate_kbps: 0xffff_ffff, burst_bytes: 0x7fff_ffff },
      false,
    ),
  },
];

export function interfaceExamples(hostLinks: readonly [string, string]): readonly Example[] {
  const [link, otherLink] = hostLinks;
  return [
    {
      name: 'loopback without anything',
      ...changing(
        iface,
        { name: 'a', type: 'SOFTWARE_LOOPBACK' },
        { enabled: true, mtu: 1400 },
        true,
      ),
    },
    {
      name: 'loopback with MAC, MTU and addresses of both families',
      ...changing(
        iface,
        {
          name: 'vxlanBVI',
          type: 'SOFTWARE_LOOPBACK',
          enabled: true,
          phys_address: '12:2b:00:00:00:01',
          mtu: 1450,
          ip_addresses: ['fd00::1/64', '192.168.30.1/24', '192.168.31.1/24'],
        },
        {
          enabled: false,
          phys_address: '12:2b:00:00:00:02',
          mtu: 0,
          ip_addresses: ['192.168.32.1/24', '192.168.31.1/24'],
        },
        true,
      ),
    },
    {
      name: 'segmentation on an interface',
      setup: [loop('out', { enabled: true })],
      essential: true,
      value: keyedValue(segmentationModel, { interface: 'out' }),
    },
    ...bandwidthExamples,
    {
      name: 'loopback with an MTU that is VPP’s own anyway',
      ...changing(iface, { name: 'a', type: 'SOFTWARE_LOOPBACK', mtu: 9000 }, { mtu: 0 }, true),
    },
    {
      name: 'loopback that moves to another table',
      setup: [table(1), table(2), table(2, 'IPV6')],
      ...changing(
        iface,
        { name: 'a', type: 'SOFTWARE_LOOPBACK', vrf: 1, ip_addresses: ['10.1.1.1/24'] },
        { vrf: 2, ip_addresses: ['10.1.1.1/24', 'fd00::1/64'] },
        true,
      ),
    },
    {
      name: 'unnumbered interface in the table of its lender',
      setup: [
        table(1),
        loop('lender', { vrf: 1, enabled: true, ip_addresses: ['10.1.1.1/24'] }),
        loop('other', { ip_addresses: ['10.2.1.1/24'] }),
      ],
      ...changing(
        iface,
        {
          name: 'a',
          type: 'SOFTWARE_LOOPBACK',
          vrf: 1,
          unnumbered: { interface_with_ip: 'lender' },
        },
        { unnumbered: { interface_with_ip: 'other' } },
        true,
      ),
    },
    {
      name: 'unnumbered interface that is up, with a route and a neighbor',
      setup: [
        table(1),
        loop('lender', { vrf: 1, enabled: true, ip_addresses: ['10.1.1.1/24'] }),
        loop('a', { vrf: 1, enabled: true, unnumbered: { interface_with_ip: 'lender' } }),
        loop('b', { vrf: 1, enabled: true, unnumbered: { interface_with_ip: 'lender' } }),
        keyedValue(vppArpModel, {
          interface: 'a',
          ip_address: '10.1.1.2',
          phys_address: '02:fe:00:00:00:09',
          static: true,
        }),
      ],
      value: keyedValue(vppRouteModel, {
        vrf_id: 1,
        dst_network: '10.1.1.2/32',
        next_hop_addr: '10.1.1.2',
        outgoing_interface: 'a',
      }),
    },
    {
      name: 'interface with a DHCP client',
      setup: [table(1), table(2), table(2, 'IPV6')],
      ...changing(
        iface,
        { name: 'a', type: 'SOFTWARE_LOOPBACK', vrf: 1, set_dhcp_client: true },
        { vrf: 2, ip_addresses: ['fd00::1/64'] },
        true,
      ),
    },
    {
      name: 'interface that gets an address of its own in place of a DHCP client',
      ...changing(
        iface,
        { name: 'a', type: 'SOFTWARE_LOOPBACK', enabled: true, set_dhcp_client: true },
        { set_dhcp_client: false, ip_addresses: ['10.1.1.1/24'] },
        true,
      ),
    },
    {
      name: 'interface that borrows from one with a DHCP client',
      setup: [loop('lender', { set_dhcp_client: true, ip_addresses: ['10.1.1.1/24'] })],
      value: loop('a', { unnumbered: { interface_with_ip: 'lender' } }),
    },
    {
      name: 'TAP with generated name in the kernel',
      requiresTaps: true,
      ...changing(
        iface,
        {
          name: 'vpp-tap-1',
          type: 'TAP',
          enabled: true,
          phys_address: '02:fe:00:00:00:01',
          mtu: 1450,
          tap: { version: 2, enable_gso: true, rx_ring_size: 1024 },
          rx_modes: [{ default_mode: true, mode: 'DEFAULT' }],
        },
        { tap: { version: 2, enable_gso: false, host_if_name: 'vpp1' } },
        false,
      ),
    },
    {
      name: 'AF_PACKET interface',
      setup: [hostLink(link), hostLink(otherLink)],
      ...changing(
        iface,
        {
          name: 'afpacket-1',
          type: 'AF_PACKET',
          enabled: true,
          mtu: 1450,
          afpacket: { host_if_name: link },
        },
        { afpacket: { host_if_name: otherLink } },
        false,
      ),
    },
    {
      name: 'AF_PACKET interface with a MAC and receive modes',
      setup: [hostLink(link)],
      ...changing(
        iface,
        {
          name: 'afpacket-1',
          type: 'AF_PACKET',
          phys_address: '02:fe:00:00:00:01',
          afpacket: { host_if_name: link },
          rx_modes: [{ default_mode: true, mode: 'POLLING' }],
        },
        { rx_modes: [{ queue: 0, mode: 'INTERRUPT' }], enabled: true },
        true,
      ),
    },
    {
      name: 'AF_PACKET interface whose queue is placed',
      setup: [hostLink(link)],
      ...changing(
        iface,
        {
          name: 'afpacket-1',
          type: 'AF_PACKET',
          afpacket: { host_if_name: link },
          rx_placements: [{ queue: 0, main_thread: true }],
        },
        { rx_placements: [{ queue: 0, worker: 0 }], enabled: true },
        true,
      ),
    },
    {
      name: 'VXLAN tunnel',
      setup: [table(3)],
      ...changing(
        iface,
        {
          name: 'vxlan-default-2',
          type: 'VXLAN_TUNNEL',
          enabled: true,
          vxlan: { src_address: '192.168.16.1', dst_address: '192.168.16.2', vni: 10 },
        },
        { vrf: 3 },
        false,
      ),
    },
    {
      name: 'VXLAN tunnel that is down',
      value: keyedValue(iface, {
        name: 'vxlan-default-2',
        type: 'VXLAN_TUNNEL',
        vxlan: { src_address: '192.168.16.1', dst_address: '192.168.16.2', vni: 10 },
      }),
    },
    {
      name: 'VXLAN tunnel over IPv6 with MTU and MAC',
      ...changing(
        iface,
        {
          name: 'vxlan-default-2',
          type: 'VXLAN_TUNNEL',
          enabled: true,
          mtu: 1400,
          phys_address: '02:fe:00:00:00:07',
          vxlan: { src_address: 'fd00::1', dst_address: 'fd00::2', vni: 16777215 },
        },
        { enabled: false, phys_address: '02:fe:00:00:00:08' },
        true,
      ),
    },
    {
      name: 'memif, master',
      ...changing(
        iface,
        {
          name: 'memif-1',
          type: 'MEMIF',
          enabled: true,
          phys_address: '02:fe:00:00:00:05',
          mtu: 1400,
          memif: {
            master: true,
            id: 1,
            socket_filename: 'abstract:contiv-compliance-1',
            secret: 'hush',
            ring_size: 512,
          },
        },
        { enabled: false, mtu: 0, phys_address: '' },
        false,
      ),
    },
    {
      name: 'memif, slave, that becomes a master on another socket',
      ...changing(
        iface,
        {
          name: 'memif-1',
          type: 'MEMIF',
          memif: { id: 7, socket_filename: 'abstract:contiv-compliance-1', rx_queues: 2 },
        },
        { memif: { id: 7, master: true, socket_filename: 'abstract:contiv-compliance-2' } },
        false,
      ),
    },
    {
      name: 'memif of IP, on a socket with another one',
      setup: [
        keyedValue(iface, {
          name: 'memif-1',
          type: 'MEMIF',
          memif: { id: 1, master: true, socket_filename: 'abstract:contiv-compliance-1' },
        }),
      ],
      ...changing(
        iface,
        {
          name: 'memif-2',
          type: 'MEMIF',
          ip_addresses: ['10.1.1.1/24'],
          memif: {
            mode: 'IP',
            id: 2,
            master: true,
            socket_filename: 'abstract:contiv-compliance-1',
          },
        },
        { enabled: true, mtu: 1300, ip_addresses: ['10.1.2.1/24'] },
        true,
      ),
    },
    {
      name: 'VLAN of an interface',
      setup: [table(1), loop('parent', { enabled: true })],
      ...changing(
        iface,
        {
          name: 'parent.100',
          type: 'SUB_INTERFACE',
          enabled: true,
          vrf: 1,
          mtu: 1400,
          ip_addresses: ['10.1.1.1/24'],
          sub: { parent_name: 'parent', sub_id: 100 },
        },
        { enabled: false, mtu: 0, ip_addresses: ['10.1.1.1/24', '10.1.2.1/24'] },
        true,
      ),
    },
    {
      name: 'VLAN of another interface',
      setup: [loop('parent', { enabled: true }), loop('other')],
      ...changing(
        iface,
        {
          name: 'vlan',
          type: 'SUB_INTERFACE',
          sub: { parent_name: 'parent', sub_id: 4095 },
        },
        { sub: { parent_name: 'other', sub_id: 1 } },
        false,
      ),
    },
    {
      name: 'VLAN that rewrites tags',
      setup: [loop('parent', { enabled: true })],
      ...changing(
        iface,
        {
          name: 'vlan',
          type: 'SUB_INTERFACE',
          sub: {
            parent_name: 'parent',
            sub_id: 100,
            tag_rw_option: 'TRANSLATE12',
            push_dot1q: true,
            tag1: 200,
            tag2: 300,
          },
        },
        { sub: { parent_name: 'parent', sub_id: 100, tag_rw_option: 'POP1', tag1: 9 } },
        false,
      ),
    },
    {
      name: 'interface with a name that is longer than a tag',
      ...changing(
        iface,
        { name: longName, type: 'SOFTWARE_LOOPBACK', ip_addresses: ['10.1.1.1/24'] },
        { enabled: true },
        true,
      ),
    },
  ];
}
