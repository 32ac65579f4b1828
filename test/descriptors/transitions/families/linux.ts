/** All families of values of Linux: a new one is added here. */
import { namespacePath } from '#linux/descriptors/namespaces.ts';
import { linuxArpModel } from '#models/linux/arp.ts';
import { linuxInterfaceModel, type NetNamespace } from '#models/linux/interface.ts';
import { linuxRouteModel } from '#models/linux/route.ts';
import { vppInterfaceModel } from '#models/vpp/interface.ts';
import { EXISTING_LINK } from '#test/linux/descriptors/backends.ts';
import { keyedValue } from '../../compliance/example-values.ts';
import { type Family, family } from '../family.ts';

const model = linuxInterfaceModel;
const macs = ['02:fe:00:00:00:01', '02:fe:00:00:00:02'];

/** @param pods namespaces, named by name, by process and by file */
export function linuxFamilies(
  pods: readonly [NetNamespace, NetNamespace, NetNamespace],
): readonly Family[] {
  const [pod, byProcess, byFile] = pods;
  const veth = { peer_if_name: 'outside' };
  const outside = { name: 'outside', type: 'VETH', veth: { peer_if_name: 'inside' } } as const;
  const inside = {
    name: 'inside',
    type: 'VETH',
    namespace: pod,
    host_if_name: 'eth0',
    enabled: true,
    ip_addresses: ['10.1.1.2/24'],
    veth,
  } as const;
  const over = [
    keyedValue(linuxRouteModel, {
      outgoing_interface: 'inside',
      scope: 'LINK',
      dst_network: '10.1.9.1/32',
    }),
    keyedValue(linuxRouteModel, {
      outgoing_interface: 'inside',
      scope: 'GLOBAL',
      dst_network: '10.9.0.0/16',
      gw_addr: '10.1.1.1',
    }),
    keyedValue(linuxArpModel, {
      interface: 'inside',
      ip_address: '10.1.1.1',
      hw_address: macs[0]!,
    }),
  ];
  const wired = [keyedValue(model, { ...outside, enabled: true }), keyedValue(model, inside)];
  const vppTaps = ['vpp-tap', 'other-tap'].map((name, i) =>
    keyedValue(vppInterfaceModel, {
      name,
      type: 'TAP',
      tap: { version: 2, host_if_name: `tap-${i}` },
    }),
  );
  const tap = { vpp_tap_if_name: 'vpp-tap' };
  const placedTap = keyedValue(vppInterfaceModel, {
    name: 'vpp-tap',
    type: 'TAP',
    tap: { version: 2, host_if_name: 'tap-0', host_namespace: namespacePath(pod) ?? '' },
  });
  return [
    family('end of a veth pair on which much hangs', {
      model,
      setup: [keyedValue(model, { ...outside, enabled: true })],
      base: inside,
      fields: {
        namespace: [byProcess, byFile],
        enabled: [false],
        mtu: [1450],
        phys_address: macs,
        ip_addresses: [
          [],
          ['10.1.1.2/24', 'fd01::2/64'],
          ['10.1.2.2/24'],
          ['fd01::2/64'],
          ['fd01::2/64', 'FD01:0::2/64', '10.1.1.2/24', '10.1.1.2/24'],
        ],
      },
      dependents: over,
    }),
    family('end of a veth pair', {
      model,
      setup: [keyedValue(model, outside)],
      base: { name: 'inside', type: 'VETH', veth },
      fields: {
        namespace: [pod, byProcess, byFile],
        host_if_name: ['eth0'],
        link_only: [true],
        veth: [
          { ...veth, tx_checksum_offloading: 'CHKSM_OFFLOAD_DISABLED' },
          { ...veth, rx_checksum_offloading: 'CHKSM_OFFLOAD_DISABLED' },
        ],
      },
    }),
    family('end of a veth pair that changes its peer', {
      model,
      base: { name: 'inside', type: 'VETH', namespace: pod, veth: { peer_if_name: 'first' } },
      others: {
        'another peer': {
          name: 'inside',
          type: 'VETH',
          namespace: pod,
          veth: { peer_if_name: 'second' },
        },
        'another peer, elsewhere': {
          name: 'inside',
          type: 'VETH',
          namespace: byProcess,
          veth: { peer_if_name: 'second' },
        },
      },
    }),
    family('the kernel’s side of a TAP', {
      model,
      setup: vppTaps,
      base: { name: 'linux-tap', type: 'TAP_TO_VPP', host_if_name: 'eth0', enabled: true, tap },
      fields: {
        namespace: [pod, byProcess, byFile],
        host_if_name: ['eth1'],
        mtu: [1450],
        phys_address: macs,
        ip_addresses: [['10.1.1.2/32']],
        tap: [{ vpp_tap_if_name: 'other-tap' }],
      },
    }),
    family('the kernel’s side of a TAP that VPP made in a pod', {
      model,
      setup: [placedTap],
      base: {
        name: 'linux-tap',
        type: 'TAP_TO_VPP',
        namespace: pod,
        host_if_name: 'eth0',
        enabled: true,
        tap,
      },
      fields: {
        namespace: [byProcess, byFile],
        host_if_name: ['eth1'],
        mtu: [1450],
        ip_addresses: [['10.1.1.2/32']],
      },
    }),
    family('interface that changes its type', {
      model,
      setup: [...vppTaps, keyedValue(model, outside)],
      base: { ...inside, ip_addresses: ['10.1.1.2/24'] },
      others: {
        'a TAP': {
          name: 'inside',
          type: 'TAP_TO_VPP',
          namespace: pod,
          host_if_name: 'eth0',
          enabled: true,
          ip_addresses: ['10.1.1.2/24'],
          tap,
        },
      },
    }),
    family('loopback of a pod', {
      model,
      isUnmarked: true,
      base: { name: 'lo-of-pod', type: 'LOOPBACK', namespace: pod, enabled: true },
      fields: { enabled: [false], ip_addresses: [['127.0.0.1/8'], ['10.2.2.2/32']] },
    }),
    family('existing link', {
      model,
      isUnmarked: true,
      base: { name: 'nic', type: 'EXISTING', host_if_name: EXISTING_LINK, enabled: true },
      fields: {
        mtu: [1400],
        ip_addresses: [['192.168.16.1/24'], ['192.168.16.1/24', '192.168.17.1/24']],
      },
    }),
    family('route without a gateway', {
      model: linuxRouteModel,
      setup: wired,
      base: { outgoing_interface: 'inside', scope: 'LINK', dst_network: '10.1.9.1/32' },
      fields: { scope: ['HOST', 'UNDEFINED'], metric: [7] },
    }),
    family('route that gets a gateway', {
      model: linuxRouteModel,
      setup: wired,
      base: { outgoing_interface: 'inside', scope: 'LINK', dst_network: '0.0.0.0/0' },
      others: {
        'over a gateway': {
          outgoing_interface: 'inside',
          scope: 'GLOBAL',
          dst_network: '0.0.0.0/0',
          gw_addr: '10.1.1.1',
        },
        'over another gateway': {
          outgoing_interface: 'inside',
          scope: 'GLOBAL',
          dst_network: '0.0.0.0/0',
          gw_addr: '10.1.1.3',
          metric: 5,
        },
      },
    }),
    family('route of IPv6', {
      model: linuxRouteModel,
      setup: [wired[0]!, keyedValue(model, { ...inside, ip_addresses: ['fd01::2/64'] })],
      base: { outgoing_interface: 'inside', scope: 'GLOBAL', dst_network: 'fd09::/32' },
      fields: { gw_addr: ['fd01::1', 'fd01::3'], metric: [9] },
    }),
    family('neighbor', {
      model: linuxArpModel,
      setup: wired,
      base: { interface: 'inside', ip_address: '10.1.1.1', hw_address: macs[0]! },
      fields: { hw_address: [macs[1]!] },
    }),
    family('neighbor of IPv6', {
      model: linuxArpModel,
      setup: wired,
      base: { interface: 'inside', ip_address: 'fd01::1', hw_address: macs[0]! },
      fields: { hw_address: [macs[1]!] },
    }),
  ];
}
