import { vppArpModel } from '#models/vpp/arp.ts';
import { bridgeDomainModel } from '#models/vpp/bridge-domain.ts';
import { fibEntryModel } from '#models/vpp/fib-entry.ts';
import { vppInterfaceModel } from '#models/vpp/interface.ts';
import { ipScanNeighborModel } from '#models/vpp/ip-scan-neighbor.ts';
import { proxyArpModel } from '#models/vpp/proxy-arp.ts';
import { vppRouteModel } from '#models/vpp/route.ts';
import { vrfTableModel } from '#models/vpp/vrf-table.ts';
import { xConnectModel } from '#models/vpp/xconnect.ts';
import { aclExamples } from './acl-examples.ts';
import { hostLink } from './host-link-stub.ts';
import { changing, keyed, loop, table } from './keyed.ts';
import { nat44Examples } from './nat44-examples.ts';
import { puntExamples } from './punt-examples.ts';
import type { Example } from './suite.ts';

const iface = vppInterfaceModel;

const longName = `vpp-tap-${'0123456789abcdef'.repeat(4)}`;

const noTap = (): string | undefined => undefined;

/** @param hostLinks two links of the kernel that VPP can bind to */
export function vppExamples(hostLinks: readonly [string, string]): readonly Example[] {
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
      skip: (backend) => (backend.name === 'VPP' ? 'TAP needs /dev/vhost-net' : noTap()),
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
      value: keyed(iface, {
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
        keyed(iface, {
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
    {
      name: 'bridge domain with a name that is longer than a tag',
      setup: [loop(longName)],
      ...changing(
        bridgeDomainModel,
        { name: longName, forward: true, interfaces: [{ name: longName }] },
        { learn: true },
        false,
      ),
    },
    {
      name: 'table',
      ...changing(vrfTableModel, { id: 7, label: 'podVRF' }, { label: 'other' }, false),
    },
    { name: 'table without a label', value: keyed(vrfTableModel, { id: 7, protocol: 'IPV6' }) },
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
      value: keyed(vppRouteModel, {
        vrf_id: 1,
        dst_network: '10.9.0.0/16',
        next_hop_addr: '10.1.1.2',
      }),
    },
    {
      name: 'second path beside the first',
      setup: [
        loop('out', { enabled: true, ip_addresses: ['10.1.1.1/24'] }),
        keyed(vppRouteModel, {
          dst_network: '10.9.0.0/16',
          next_hop_addr: '10.1.1.2',
          outgoing_interface: 'out',
        }),
      ],
      value: keyed(vppRouteModel, {
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
      name: 'default route from a table into the main one',
      setup: [table(1, 'IPV6')],
      value: keyed(vppRouteModel, {
        type: 'INTER_VRF',
        vrf_id: 1,
        dst_network: '::/0',
        next_hop_addr: '::',
      }),
    },
    {
      name: 'route via a next hop of another table',
      setup: [table(1)],
      value: keyed(vppRouteModel, {
        type: 'INTER_VRF',
        dst_network: '10.1.0.0/16',
        next_hop_addr: '10.5.0.1',
        via_vrf_id: 1,
      }),
    },
    {
      name: 'route that drops',
      setup: [table(1)],
      value: keyed(vppRouteModel, { type: 'DROP', vrf_id: 1, dst_network: '10.1.0.0/16' }),
    },
    {
      name: 'IPv6 route on an interface',
      setup: [loop('out', { enabled: true, ip_addresses: ['fd00::1/64'] })],
      value: keyed(vppRouteModel, {
        dst_network: 'fd00:9::/48',
        next_hop_addr: 'fd00::2',
        outgoing_interface: 'out',
      }),
    },
    {
      name: 'neighbour',
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
      name: 'IPv6 neighbour that becomes dynamic',
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
      name: 'ageing of neighbours',
      ...changing(
        ipScanNeighborModel,
        { mode: 'IPV4', scan_interval: 1, stale_threshold: 4 },
        { mode: 'BOTH', stale_threshold: 5 },
        true,
      ),
    },
    {
      name: 'bridge domain without members',
      ...changing(
        bridgeDomainModel,
        {
          name: 'bd',
          flood: true,
          learn: true,
          forward: true,
          arp_termination: true,
          arp_termination_table: [
            { ip_address: '10.1.1.1', phys_address: '02:fe:00:00:00:01' },
            { ip_address: '10.1.1.2', phys_address: '02:fe:00:00:00:02' },
          ],
        },
        {
          arp_termination_table: [
            { ip_address: '10.1.1.1', phys_address: '02:fe:00:00:00:09' },
            { ip_address: 'fd00::3', phys_address: '02:fe:00:00:00:03' },
          ],
        },
        true,
      ),
    },
    {
      name: 'bridge domain that changes its flags',
      setup: [loop('bvi')],
      ...changing(
        bridgeDomainModel,
        { name: 'bd', forward: true, interfaces: [{ name: 'bvi' }] },
        { learn: true, unknown_unicast_flood: true, mac_age: 5 },
        false,
      ),
    },
    {
      name: 'bridge domain with BVI and members',
      setup: [loop('bvi', { phys_address: '12:2b:00:00:00:01' }), loop('b'), loop('c')],
      ...changing(
        bridgeDomainModel,
        {
          name: 'vxlanBD',
          forward: true,
          interfaces: [
            { name: 'bvi', bridged_virtual_interface: true, split_horizon_group: 1 },
            { name: 'b', split_horizon_group: 1 },
          ],
        },
        {
          interfaces: [
            { name: 'bvi', bridged_virtual_interface: true, split_horizon_group: 1 },
            { name: 'b', split_horizon_group: 2 },
            { name: 'c' },
          ],
        },
        true,
      ),
    },
    {
      name: 'cross-connect',
      setup: [loop('a'), loop('b'), loop('c')],
      ...changing(
        xConnectModel,
        { receive_interface: 'a', transmit_interface: 'b' },
        { transmit_interface: 'c' },
        true,
      ),
    },
    {
      name: 'cross-connect both ways',
      setup: [
        loop('a'),
        loop('b'),
        keyed(xConnectModel, { receive_interface: 'b', transmit_interface: 'a' }),
      ],
      value: keyed(xConnectModel, { receive_interface: 'a', transmit_interface: 'b' }),
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
    {
      name: 'entry of a bridge domain',
      setup: [
        loop('b'),
        loop('c'),
        keyed(bridgeDomainModel, {
          name: 'bd',
          forward: true,
          interfaces: [{ name: 'b' }, { name: 'c' }],
        }),
      ],
      ...changing(
        fibEntryModel,
        {
          phys_address: '02:fe:00:00:00:02',
          bridge_domain: 'bd',
          outgoing_interface: 'b',
          static_config: true,
        },
        { outgoing_interface: 'c' },
        false,
      ),
    },
    {
      name: 'entry of a bridge domain that drops',
      setup: [keyed(bridgeDomainModel, { name: 'bd', forward: true })],
      value: keyed(fibEntryModel, {
        phys_address: '02:fe:00:00:00:02',
        bridge_domain: 'bd',
        action: 'DROP',
        static_config: true,
      }),
    },
    ...nat44Examples,
    ...aclExamples,
    ...puntExamples,
  ];
}
