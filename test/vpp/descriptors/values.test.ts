/** Values that the VPP descriptors reject before they send a request, and values that they treat as equal. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import type { DeepInput } from '#models/model.ts';
import { type VppArpEntry, vppArpModel } from '#models/vpp/arp.ts';
import { bandwidthLimitModel } from '#models/vpp/bandwidth-limit.ts';
import { type BridgeDomain, bridgeDomainModel } from '#models/vpp/bridge-domain.ts';
import { type FIBEntry, fibEntryModel } from '#models/vpp/fib-entry.ts';
import { type VppInterface, vppInterfaceModel } from '#models/vpp/interface.ts';
import { ipScanNeighborModel } from '#models/vpp/ip-scan-neighbor.ts';
import { type ProxyARP, proxyArpModel } from '#models/vpp/proxy-arp.ts';
import { type VppRoute, vppRouteModel } from '#models/vpp/route.ts';
import { segmentationModel } from '#models/vpp/segmentation.ts';
import { type VrfTable, vrfTableModel } from '#models/vpp/vrf-table.ts';
import { xConnectModel } from '#models/vpp/xconnect.ts';
import { assertAccepted, assertRejected, descriptorOf } from '#test/descriptors/validation.ts';
import { cidrText, ipText } from '#test/models/arbitrary.ts';
import { toPrefix } from '#vpp/binapi/addresses.ts';
import { adoptRxModes } from '#vpp/descriptors/interface/rx-mode-values.ts';
import { adoptRxPlacements } from '#vpp/descriptors/interface/rx-placement-values.ts';
import { tapHostName } from '#vpp/descriptors/interface/types/tap.ts';
import {
  fromPath,
  pathIdentity,
  routeToAdd,
  routeToDelete,
} from '#vpp/descriptors/l3/route-path.ts';

describe('refused before anything is sent', () => {
  test('interfaces', () => {
    const loop = { name: 'a', type: 'SOFTWARE_LOOPBACK' } as const;
    const tap = { name: 'a', type: 'TAP' } as const;
    const vxlan = { name: 'a', type: 'VXLAN_TUNNEL' } as const;
    const vlan = { name: 'a', type: 'SUB_INTERFACE' } as const;
    const memif = { name: 'a', type: 'MEMIF' } as const;
    const socket = { socket_filename: '/run/vpp/memif-a.sock' } as const;
    const ends = { src_address: '10.0.0.1', dst_address: '10.0.0.2', vni: 10 };
    const cases: readonly (readonly [DeepInput<VppInterface>, string])[] = [
      [{ ...loop, name: '' }, 'name'],
      [{ name: 'a' }, 'type'],
      [{ name: 'a', type: 'GRE_TUNNEL' }, 'type'],
      [{ ...loop, tap: {} }, 'tap'],
      [{ ...loop, mtu: 9217 }, 'mtu'],
      [
        { ...loop, ip_addresses: ['10.1.1.1/24'], unnumbered: { interface_with_ip: 'b' } },
        'unnumbered',
      ],
      [{ ...loop, unnumbered: {} }, 'unnumbered'],
      [{ ...loop, unnumbered: { interface_with_ip: 'a' } }, 'unnumbered'],
      [{ ...loop, set_dhcp_client: true, unnumbered: { interface_with_ip: 'b' } }, 'unnumbered'],
      [{ ...loop, ip_addresses: ['alloc:net/a'] }, 'ip_addresses'],
      [{ ...loop, ip_addresses: ['10.1.1.1/0'] }, 'ip_addresses'],
      [{ ...loop, ip_addresses: ['fd00::1/64', 'fd00::2/0'] }, 'ip_addresses'],
      [{ ...loop, ip_addresses: ['fd00::1/64', 'fe80::5/128'] }, 'ip_addresses'],
      [{ ...loop, ip_addresses: ['febf::5/64'] }, 'ip_addresses'],
      [{ ...loop, rx_modes: [{ queue: 1 }] }, 'rx_modes'],
      [
        {
          ...loop,
          rx_modes: [
            { queue: 1, mode: 'POLLING' },
            { queue: 1, mode: 'INTERRUPT' },
          ],
        },
        'rx_modes',
      ],
      [
        {
          ...loop,
          rx_modes: [
            { mode: 'POLLING', default_mode: true },
            { queue: 1, mode: 'INTERRUPT', default_mode: true },
          ],
        },
        'rx_modes',
      ],
      [{ ...loop, rx_placements: [{ queue: 1 }, { queue: 1, worker: 2 }] }, 'rx_placements'],
      [tap, 'tap'],
      [{ ...tap, tap: { version: 1 } }, 'tap.version'],
      [{ ...tap, tap: { version: 3 } }, 'tap.version'],
      [{ ...tap, tap: { enable_tunnel: true }, phys_address: '02:fe:00:00:00:01' }, 'phys_address'],
      [{ ...tap, tap: { host_if_name: 'a'.repeat(16) } }, 'tap.host_if_name'],
      [{ ...tap, tap: { rx_ring_size: 300 } }, 'tap.rx_ring_size'],
      [{ ...tap, tap: { tx_ring_size: 65536 } }, 'tap.tx_ring_size'],
      [{ ...tap, tap: { to_microservice: 'x' } }, 'tap.to_microservice'],
      [{ name: 'a', type: 'AF_PACKET', afpacket: {} }, 'afpacket'],
      [
        { name: 'a', type: 'AF_PACKET', afpacket: { host_if_name: 'a'.repeat(16) } },
        'afpacket.host_if_name',
      ],
      [{ ...vxlan, vxlan: { ...ends, src_address: '' } }, 'vxlan.src_address'],
      [{ ...vxlan, vxlan: { ...ends, dst_address: '' } }, 'vxlan.dst_address'],
      [{ ...vxlan, vxlan: { ...ends, dst_address: '10.0.0.1' } }, 'vxlan'],
      [{ ...vxlan, vxlan: { ...ends, dst_address: 'fd00::1' } }, 'vxlan'],
      [{ ...vxlan, vxlan: { ...ends, vni: 2 ** 24 } }, 'vxlan.vni'],
      [{ ...vxlan, vxlan: { ...ends, dst_address: '239.1.1.1' } }, 'vxlan.multicast'],
      [{ ...vxlan, vxlan: { ...ends, multicast: 'b' } }, 'vxlan.multicast'],
      [{ ...vxlan, vxlan: { ...ends, gpe: {} } }, 'vxlan.gpe'],
      [{ name: 'a', type: 'SUB_INTERFACE' }, 'sub'],
      [{ ...vlan, sub: { sub_id: 1 } }, 'sub.parent_name'],
      [{ ...vlan, sub: { parent_name: 'a', sub_id: 1 } }, 'sub.parent_name'],
      [{ ...vlan, sub: { parent_name: 'b' } }, 'sub.sub_id'],
      [{ ...vlan, sub: { parent_name: 'b', sub_id: 4096 } }, 'sub.sub_id'],
      [
        { ...vlan, sub: { parent_name: 'b', sub_id: 1, tag_rw_option: 'TRANSLATE21' } },
        'sub.tag_rw_option',
      ],
      [{ ...vlan, sub: { parent_name: 'b', sub_id: 1, tag2: 65536 } }, 'sub.tag2'],
      [
        { ...vlan, sub: { parent_name: 'b', sub_id: 1 }, phys_address: '02:fe:00:00:00:01' },
        'phys_address',
      ],
      [
        { ...vlan, sub: { parent_name: 'b', sub_id: 1 }, rx_modes: [{ mode: 'POLLING' }] },
        'rx_modes',
      ],
      [{ name: 'a', type: 'MEMIF' }, 'memif'],
      [{ ...memif, memif: {} }, 'memif.socket_filename'],
      [{ ...memif, memif: { socket_filename: 'memif.sock' } }, 'memif.socket_filename'],
      [{ ...memif, memif: { socket_filename: `/${'a'.repeat(107)}` } }, 'memif.socket_filename'],
      [{ ...memif, memif: { ...socket, mode: 'PUNT_INJECT' } }, 'memif.mode'],
      [{ ...memif, memif: { ...socket, secret: 'a'.repeat(24) } }, 'memif.secret'],
      [{ ...memif, memif: { ...socket, ring_size: 1000 } }, 'memif.ring_size'],
      [{ ...memif, memif: { ...socket, ring_size: 32768 } }, 'memif.ring_size'],
      [{ ...memif, memif: { ...socket, buffer_size: 65536 } }, 'memif.buffer_size'],
      [{ ...memif, memif: { ...socket, rx_queues: 256 } }, 'memif.rx_queues'],
      [
        { ...memif, memif: { ...socket, mode: 'IP' }, phys_address: '02:fe:00:00:00:01' },
        'phys_address',
      ],
      [{ name: 'nic', type: 'DPDK', phys_address: '02:fe:00:00:00:01' }, 'phys_address'],
    ];
    assertRejected('vpp-interface', vppInterfaceModel, cases);
  });

  test('tables', () => {
    const cases: readonly (readonly [DeepInput<VrfTable>, string])[] = [
      [{ id: 1, label: 'a'.repeat(64) }, 'label'],
      // a table of this name would be taken for one of VPP's own
      [{ id: 1, label: 'ipv4-VRF:1' }, 'label'],
    ];
    assertRejected('vpp-vrf-table', vrfTableModel, cases);
    assertAccepted('vpp-vrf-table', vrfTableModel, [
      { id: 1, protocol: 'IPV6', label: 'ipv4-VRF:1' },
    ]);
  });

  test('routes', () => {
    const to = { dst_network: '10.0.0.0/8', next_hop_addr: '10.1.1.1' };
    const cases: readonly (readonly [DeepInput<VppRoute>, string])[] = [
      [{ next_hop_addr: '10.1.1.1' }, 'dst_network'],
      [{ ...to, dst_network: 'alloc:net/a' }, 'dst_network'],
      [{ ...to, dst_network: '224.0.0.0/4' }, 'dst_network'],
      [{ ...to, dst_network: '240.1.2.3/4' }, 'dst_network'],
      [{ type: 'DROP', dst_network: 'fe80::/10' }, 'dst_network'],
      [{ ...to, next_hop_addr: 'alloc:net/a' }, 'next_hop_addr'],
      [{ ...to, next_hop_addr: 'fd00::1' }, 'next_hop_addr'],
      [{ dst_network: '10.0.0.0/8' }, 'next_hop_addr'],
      [{ ...to, weight: 256 }, 'weight'],
      [{ ...to, preference: 256 }, 'preference'],
      [{ ...to, via_vrf_id: 1 }, 'via_vrf_id'],
      [{ ...to, type: 'INTER_VRF', outgoing_interface: 'a', via_vrf_id: 1 }, 'outgoing_interface'],
      [{ ...to, type: 'INTER_VRF' }, 'via_vrf_id'],
    ];
    assertRejected('vpp-route', vppRouteModel, cases);
    assertAccepted('vpp-route', vppRouteModel, [
      to,
      { type: 'DROP', dst_network: '10.0.0.0/8' },
      { type: 'INTER_VRF', dst_network: '10.0.0.0/8', via_vrf_id: 1 },
      { dst_network: '10.0.0.0/8', outgoing_interface: 'a' },
    ]);
  });

  test('neighbors', () => {
    const cases: readonly (readonly [DeepInput<VppArpEntry>, string])[] = [
      [{ ip_address: '10.1.1.1', phys_address: '02:fe:00:00:00:01' }, 'interface'],
      [{ interface: 'a', phys_address: '02:fe:00:00:00:01' }, 'ip_address'],
      [{ interface: 'a', ip_address: '10.1.1.1' }, 'phys_address'],
    ];
    assertRejected('vpp-arp', vppArpModel, cases);
    assertRejected('vpp-ip-scan-neighbor', ipScanNeighborModel, [
      [{ mode: 'BOTH', stale_threshold: 2 ** 31 }, 'stale_threshold'],
    ]);
  });

  test('cross-connects and proxy ARP', () => {
    assertRejected('vpp-gso-segmentation', segmentationModel, [[{ interface: '' }, 'interface']]);
    const limit = { interface: 'a', rate_kbps: 1, burst_bytes: 65_549 };
    assertRejected('vpp-bandwidth-limit', bandwidthLimitModel, [
      [{ ...limit, interface: '' }, 'interface'],
      [{ ...limit, rate_kbps: 0 }, 'rate_kbps'],
      [{ ...limit, burst_bytes: 65_548 }, 'burst_bytes'],
    ]);
    assertRejected('vpp-xconnect', xConnectModel, [
      [{ transmit_interface: 'a' }, 'receive_interface'],
      [{ receive_interface: 'a' }, 'transmit_interface'],
    ]);
    const range = { first_ip_addr: '10.1.1.1', last_ip_addr: '10.1.1.9' };
    const cases: readonly (readonly [DeepInput<ProxyARP>, string])[] = [
      [{ ranges: [{ last_ip_addr: '10.1.1.1' }] }, 'ranges.first_ip_addr'],
      [{ ranges: [{ ...range, first_ip_addr: 'fd00::1' }] }, 'ranges.first_ip_addr'],
      [{ ranges: [{ first_ip_addr: '10.1.1.1' }] }, 'ranges.last_ip_addr'],
      [{ ranges: [{ ...range, last_ip_addr: '10.1.0.9' }] }, 'ranges.last_ip_addr'],
      [{ ranges: [range, range] }, 'ranges'],
      [{ interfaces: [{ name: 'a' }, { name: 'a' }] }, 'interfaces'],
      [{ interfaces: [{}] }, 'interfaces'],
    ];
    assertRejected('vpp-proxy-arp', proxyArpModel, cases);
    assertAccepted('vpp-proxy-arp', proxyArpModel, [{ ranges: [range, { ...range, vrf_id: 1 }] }]);
  });

  test('bridge domains and their entries', () => {
    const member = { name: 'a' };
    const bvi = { bridged_virtual_interface: true };
    const entry = { ip_address: '10.1.1.1', phys_address: '02:fe:00:00:00:01' };
    const cases: readonly (readonly [DeepInput<BridgeDomain>, string])[] = [
      [{}, 'name'],
      [{ name: 'bd', mac_age: 256 }, 'mac_age'],
      [{ name: 'bd', interfaces: [member, member] }, 'interfaces'],
      [
        {
          name: 'bd',
          interfaces: [
            { ...member, ...bvi },
            { name: 'b', ...bvi },
          ],
        },
        'interfaces',
      ],
      [{ name: 'bd', interfaces: [{ ...member, split_horizon_group: 256 }] }, 'interfaces'],
      [{ name: 'bd', arp_termination_table: [entry, entry] }, 'arp_termination_table'],
      [
        { name: 'bd', arp_termination_table: [{ ...entry, ip_address: '' }] },
        'arp_termination_table',
      ],
      [
        { name: 'bd', arp_termination_table: [{ ip_address: '10.1.1.1' }] },
        'arp_termination_table',
      ],
    ];
    assertRejected('vpp-bridge-domain', bridgeDomainModel, cases);
    const fib: readonly (readonly [DeepInput<FIBEntry>, string])[] = [
      [{ bridge_domain: 'bd', outgoing_interface: 'a' }, 'phys_address'],
      [{ phys_address: '02:fe:00:00:00:01', outgoing_interface: 'a' }, 'bridge_domain'],
      [{ phys_address: '02:fe:00:00:00:01', bridge_domain: 'bd' }, 'outgoing_interface'],
    ];
    assertRejected('vpp-l2-fib', fibEntryModel, fib);
  });
});

describe('taken for the same', () => {
  const names = new Map([[7, 'out']]);
  const route = fc
    .record({
      type: fc.constantFrom<VppRoute['type']>('INTRA_VRF', 'INTER_VRF', 'DROP', 'UNREACHABLE'),
      vrf_id: fc.nat(3),
      via: fc.nat(3),
      dst_network: cidrText,
      hop: fc.option(ipText, { nil: '' }),
      out: fc.constantFrom('', 'out'),
      weight: fc.nat(255),
      preference: fc.nat(255),
    })
    .map(({ type, via, hop, out, ...rest }) => {
      const sameFamily = hop === '' || hop.includes(':') === rest.dst_network.includes(':');
      const inter = type === 'INTER_VRF';
      return vppRouteModel.canonical({
        ...rest,
        type,
        next_hop_addr: sameFamily ? hop : '',
        outgoing_interface: inter ? '' : out,
        // a table of its own, because the same one means INTRA_VRF to VPP
        via_vrf_id: inter ? 4 + via : 0,
      });
    });

  test('a route that went to VPP and came back', () => {
    fc.assert(
      fc.property(route, (value) => {
        const swIfIndex = value.outgoing_interface === '' ? undefined : 7;
        const sent = routeToDelete(value, swIfIndex);
        const [path] = sent.paths;
        assert.ok(path !== undefined);
        const back = fromPath(sent, path, names);
        assert.ok(back !== undefined);
        assert.equal(pathIdentity(back), pathIdentity(value));
        assert.deepEqual(vppRouteModel.canonical(back), back, 'what is read back is canonical');
      }),
    );
  });

  test('a route to a host that is attached to an interface, which is deleted by its next hop', () => {
    const value = vppRouteModel.canonical({
      dst_network: '10.1.1.2/32',
      outgoing_interface: 'out',
    });
    const [added, deleted] = [routeToAdd(value, 7), routeToDelete(value, 7)];
    assert.ok(added.paths[0]!.nh.address.every((byte) => byte === 0));
    assert.deepEqual([...deleted.paths[0]!.nh.address.subarray(0, 4)], [10, 1, 1, 2]);
    assert.equal(pathIdentity(fromPath(deleted, deleted.paths[0]!, names)!), pathIdentity(value));
  });

  test('a route whose prefix VPP has from the address of an interface', () => {
    for (const [first, dst_network] of [
      ['192.168.16.1/24', '192.168.16.0/24'],
      ['10.255.255.255/9', '10.128.0.0/9'],
      ['10.1.1.1/31', '10.1.1.0/31'],
      ['10.1.1.1/32', '10.1.1.1/32'],
      ['1.2.3.4/0', '0.0.0.0/0'],
      ['fd70::7:1/64', 'fd70::/64'],
      ['fd70::ffff/121', 'fd70::ff80/121'],
      ['fd70::1/128', 'fd70::1/128'],
    ] as const) {
      const value = vppRouteModel.canonical({ dst_network, outgoing_interface: 'out' });
      const sent = routeToDelete(value, 7);
      const back = fromPath({ ...sent, prefix: toPrefix(first) }, sent.paths[0]!, names);
      assert.equal(back?.dst_network, dst_network);
    }
  });

  test('a weight that is left out and the weight of 1', () => {
    const { equivalent } = descriptorOf('vpp-route');
    const to = { dst_network: '10.0.0.0/8', next_hop_addr: '10.1.1.1' };
    const [left, one, two] = [0, 1, 2].map((weight) => vppRouteModel.canonical({ ...to, weight }));
    assert.equal(equivalent?.('', left, one), true);
    assert.equal(equivalent?.('', one, two), false);
  });

  test('an interface with other addresses, which are values of their own', () => {
    const { equivalent } = descriptorOf('vpp-interface');
    const loop = (ip_addresses: string[]) =>
      vppInterfaceModel.canonical({ name: 'a', type: 'SOFTWARE_LOOPBACK', ip_addresses });
    assert.equal(equivalent?.('', loop(['10.1.1.1/24']), loop(['10.1.2.1/24'])), true);
  });

  test('receive modes that VPP reports queue by queue', () => {
    const found = [
      { queue: 0, mode: 1 },
      { queue: 1, mode: 2 },
    ];
    const byDefault = { queue: 0, mode: 'POLLING', default_mode: true } as const;
    const second = { queue: 1, mode: 'INTERRUPT', default_mode: false } as const;
    const left = { queue: 0, mode: 'DEFAULT', default_mode: true } as const;
    assert.deepEqual(adoptRxModes(found, [byDefault, second]), [byDefault, second]);
    assert.deepEqual(adoptRxModes(found, [left]), [left]);
    assert.deepEqual(adoptRxModes(found, []), []);
    assert.deepEqual(adoptRxModes(found, [byDefault]), [
      { queue: 0, mode: 'POLLING', default_mode: false },
      { queue: 1, mode: 'INTERRUPT', default_mode: false },
    ]);
  });
});

test('a receive queue whose thread VPP reports', () => {
  const found = [
    { queue: 0, thread: 0 },
    { queue: 1, thread: 2 },
  ];
  const onMain = { queue: 0, worker: 7, main_thread: true };
  const second = { queue: 1, worker: 1, main_thread: false };
  const nowhere = { queue: 2, worker: 0, main_thread: false };
  assert.deepEqual(adoptRxPlacements(found, [onMain, second], true), [onMain, second]);
  assert.deepEqual(adoptRxPlacements(found, [nowhere], true), []);
  const first = { queue: 0, worker: 0, main_thread: false };
  assert.deepEqual(adoptRxPlacements(found, [first], false), [first], 'there is no other thread');
  const moved = [
    { queue: 0, worker: 0, main_thread: true },
    { queue: 1, worker: 1, main_thread: false },
  ];
  const asked = [first, { ...second, worker: 3 }];
  assert.deepEqual(adoptRxPlacements(found, asked, true), moved);
});

test('the name that VPP gives to the kernel’s side of a TAP is the Go agent’s', () => {
  const tap = (name: string) => vppInterfaceModel.canonical({ name, type: 'TAP', tap: {} });
  assert.equal(tapHostName(tap('a')), 'tap-3826002220');
  assert.notEqual(tapHostName(tap('vpp-tap-1')), tapHostName(tap('vpp-tap-2')));
});
