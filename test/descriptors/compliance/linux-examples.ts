import { namespacePath } from '#linux/descriptors/namespaces.ts';
import { linuxArpModel } from '#models/linux/arp.ts';
import { linuxInterfaceModel, type NetNamespace } from '#models/linux/interface.ts';
import { linuxRouteModel } from '#models/linux/route.ts';
import { vppInterfaceModel } from '#models/vpp/interface.ts';
import { changing, keyedValue } from './example-values.ts';
import type { Example } from './suite.ts';

const link = linuxInterfaceModel;

/** @param pods two namespaces; @param existing a link in the agent's own */
export function linuxExamples(
  [pod, otherPod]: readonly [NetNamespace, NetNamespace, ...NetNamespace[]],
  existing: string,
): readonly Example[] {
  const vppTap = keyedValue(vppInterfaceModel, {
    name: 'vpp-tap-1',
    type: 'TAP',
    tap: { version: 2, host_if_name: 'tap-12345' },
  });
  const placedTap = keyedValue(vppInterfaceModel, {
    name: 'vpp-tap-1',
    type: 'TAP',
    tap: { version: 2, host_if_name: 'tap-12345', host_namespace: namespacePath(pod) ?? '' },
  });
  const hostEnd = {
    name: 'veth2',
    type: 'VETH' as const,
    enabled: true,
    veth: { peer_if_name: 'veth1' },
  };
  const podEnd = {
    name: 'veth1',
    type: 'VETH' as const,
    namespace: pod,
    host_if_name: 'eth0',
    enabled: true,
    phys_address: '02:fe:00:00:00:01',
    mtu: 1450,
    ip_addresses: ['10.1.1.2/32'],
    veth: { peer_if_name: 'veth2' },
  };
  const wired = [keyedValue(link, hostEnd), keyedValue(link, podEnd)];
  const podLink = keyedValue(linuxRouteModel, {
    outgoing_interface: 'veth1',
    scope: 'LINK',
    dst_network: '10.1.1.1/32',
  });
  return [
    { name: 'one end of a veth pair, in a pod', value: keyedValue(link, podEnd) },
    {
      name: 'second end of a veth pair, in the agent’s own namespace',
      setup: [keyedValue(link, podEnd)],
      ...changing(
        link,
        hostEnd,
        { mtu: 1400, enabled: false, phys_address: '02:fe:00:00:00:02' },
        true,
      ),
    },
    {
      name: 'second end of a veth pair, in a pod, with checksums off',
      essential: true,
      setup: [keyedValue(link, hostEnd)],
      ...changing(
        link,
        {
          ...podEnd,
          veth: { peer_if_name: 'veth2', tx_checksum_offloading: 'CHKSM_OFFLOAD_DISABLED' },
        },
        { veth: { peer_if_name: 'veth2', rx_checksum_offloading: 'CHKSM_OFFLOAD_DISABLED' } },
        true,
      ),
    },
    {
      name: 'end of a veth pair that moves to another pod',
      setup: [keyedValue(link, hostEnd)],
      ...changing(link, podEnd, { namespace: otherPod }, false),
    },
    {
      name: 'end of a veth pair that changes its addresses',
      setup: [keyedValue(link, hostEnd)],
      ...changing(link, podEnd, { ip_addresses: ['fd00::2/128', '10.1.1.3/32'], mtu: 0 }, true),
    },
    {
      name: 'the kernel’s side of a TAP, in a pod',
      essential: true,
      setup: [vppTap],
      ...changing(
        link,
        {
          name: 'linux-tap-1',
          type: 'TAP_TO_VPP',
          namespace: pod,
          host_if_name: 'eth0',
          enabled: true,
          phys_address: '02:fe:00:00:00:01',
          mtu: 1450,
          ip_addresses: ['10.1.1.2/32'],
          tap: { vpp_tap_if_name: 'vpp-tap-1' },
        },
        { host_if_name: 'eth1' },
        false,
      ),
    },
    {
      name: 'the kernel’s side of a TAP that VPP made in the pod',
      setup: [placedTap],
      ...changing(
        link,
        {
          name: 'linux-tap-1',
          type: 'TAP_TO_VPP',
          namespace: pod,
          host_if_name: 'eth0',
          enabled: true,
          phys_address: '02:fe:00:00:00:01',
          ip_addresses: ['10.1.1.2/32'],
          tap: { vpp_tap_if_name: 'vpp-tap-1' },
        },
        { host_if_name: 'eth1' },
        false,
      ),
    },
    {
      name: 'the kernel’s side of a TAP that VPP made in another pod',
      setup: [placedTap],
      value: keyedValue(link, {
        name: 'linux-tap-1',
        type: 'TAP_TO_VPP',
        namespace: otherPod,
        host_if_name: 'eth0',
        enabled: true,
        tap: { vpp_tap_if_name: 'vpp-tap-1' },
      }),
    },
    {
      name: 'the kernel’s side of a TAP, renamed in place',
      setup: [vppTap],
      ...changing(
        link,
        { name: 'vpp1', type: 'TAP_TO_VPP', enabled: true, tap: { vpp_tap_if_name: 'vpp-tap-1' } },
        { enabled: false, mtu: 1400 },
        true,
      ),
    },
    {
      name: 'the kernel’s side of a TAP under the name that VPP gave it',
      setup: [vppTap],
      value: keyedValue(link, {
        name: 'linux-tap-1',
        host_if_name: 'tap-12345',
        type: 'TAP_TO_VPP',
        enabled: true,
        tap: { vpp_tap_if_name: 'vpp-tap-1' },
      }),
    },
    {
      name: 'loopback of a pod',
      isUnmarked: true,
      value: keyedValue(link, {
        name: 'linux-loop-1',
        type: 'LOOPBACK',
        namespace: pod,
        enabled: false,
      }),
    },
    {
      name: 'existing link that gets an address',
      isUnmarked: true,
      setup: [{ key: `linux/interface/host-name/${existing}`, value: {} }],
      ...changing(
        link,
        {
          name: 'nic',
          type: 'EXISTING',
          host_if_name: existing,
          enabled: true,
          ip_addresses: ['192.168.16.1/24'],
        },
        { ip_addresses: ['192.168.16.1/24', '192.168.17.1/24'] },
        true,
      ),
    },
    {
      name: 'route without a gateway',
      essential: true,
      setup: wired,
      ...changing(
        linuxRouteModel,
        { outgoing_interface: 'veth1', scope: 'LINK', dst_network: '10.1.1.1/32' },
        { metric: 7 },
        false,
      ),
    },
    {
      name: 'default route over a gateway that another route reaches',
      setup: [...wired, podLink],
      value: keyedValue(linuxRouteModel, {
        outgoing_interface: 'veth1',
        scope: 'GLOBAL',
        dst_network: '0.0.0.0/0',
        gw_addr: '10.1.1.1',
      }),
    },
    {
      name: 'IPv6 route over a gateway in the subnet',
      setup: [
        keyedValue(link, hostEnd),
        keyedValue(link, { ...podEnd, ip_addresses: ['fd00:1::2/64'] }),
      ],
      ...changing(
        linuxRouteModel,
        {
          outgoing_interface: 'veth1',
          scope: 'GLOBAL',
          dst_network: 'fd00:9::/48',
          gw_addr: 'fd00:1::1',
        },
        { gw_addr: 'fd00:1::7' },
        false,
      ),
    },
    {
      name: 'route of undefined scope',
      setup: wired,
      value: keyedValue(linuxRouteModel, {
        outgoing_interface: 'veth1',
        dst_network: '10.9.0.0/16',
      }),
    },
    {
      name: 'neighbor',
      setup: wired,
      ...changing(
        linuxArpModel,
        { interface: 'veth1', ip_address: '10.1.1.1', hw_address: '02:fe:00:00:00:09' },
        { hw_address: '02:fe:00:00:00:0a' },
        true,
      ),
    },
    {
      name: 'IPv6 neighbor',
      setup: wired,
      value: keyedValue(linuxArpModel, {
        interface: 'veth1',
        ip_address: 'fd00::1',
        hw_address: '02:fe:00:00:00:09',
      }),
    },
  ];
}
