/** A configuration with at least one value for each document of the original. */

import { linuxArpModel } from '#models/linux/arp.ts';
import { linuxInterfaceModel } from '#models/linux/interface.ts';
import { linuxRouteModel } from '#models/linux/route.ts';
import type { Model } from '#models/model.ts';
import { aclModel } from '#models/vpp/acl.ts';
import { vppArpModel } from '#models/vpp/arp.ts';
import { bridgeDomainModel } from '#models/vpp/bridge-domain.ts';
import { dnat44Model } from '#models/vpp/dnat44.ts';
import { fibEntryModel } from '#models/vpp/fib-entry.ts';
import { vppInterfaceModel } from '#models/vpp/interface.ts';
import { proxyArpModel } from '#models/vpp/proxy-arp.ts';
import { vppRouteModel } from '#models/vpp/route.ts';
import { xConnectModel } from '#models/vpp/xconnect.ts';
import type { ExternalConfigSource } from '#plugins/controller/api/events.ts';

const values: Record<string, object> = {};

function put<T extends object>(model: Model<T>, ...inputs: Parameters<Model<T>['canonical']>[0][]) {
  for (const input of inputs) {
    const value = model.canonical(input);
    values[model.key(value)] = value;
  }
}

put(
  vppInterfaceModel,
  {
    name: 'op-loop',
    type: 'SOFTWARE_LOOPBACK',
    enabled: true,
    phys_address: '02:00:00:00:00:01',
    ip_addresses: ['10.7.0.1/24', 'fd07::1/64'],
  },
  {
    name: 'op-memif',
    type: 'MEMIF',
    enabled: true,
    memif: { id: 7, socket_filename: '/run/op.sock' },
  },
  { name: 'op-left', type: 'SOFTWARE_LOOPBACK', phys_address: '02:00:00:00:00:02' },
  { name: 'op-right', type: 'SOFTWARE_LOOPBACK', phys_address: '02:00:00:00:00:03' },
  { name: 'op-port', type: 'SOFTWARE_LOOPBACK', phys_address: '02:00:00:00:00:04' },
  {
    name: 'op-tunnel',
    type: 'VXLAN_TUNNEL',
    enabled: true,
    vxlan: { src_address: '10.7.0.1', dst_address: '10.7.0.9', vni: 77 },
  },
);
put(bridgeDomainModel, {
  name: 'op-bridge',
  forward: true,
  learn: true,
  flood: true,
  mac_age: 5,
  interfaces: [{ name: 'op-port', split_horizon_group: 2 }],
});
put(fibEntryModel, {
  phys_address: '02:00:00:00:00:aa',
  bridge_domain: 'op-bridge',
  outgoing_interface: 'op-port',
  action: 'FORWARD',
  static_config: true,
});
put(xConnectModel, { receive_interface: 'op-left', transmit_interface: 'op-right' });
put(vppArpModel, {
  interface: 'op-loop',
  ip_address: '10.7.0.2',
  phys_address: '02:00:00:00:00:bb',
  static: true,
});
put(
  vppRouteModel,
  { dst_network: '10.8.0.0/16', next_hop_addr: '10.7.0.2', outgoing_interface: 'op-loop' },
  { dst_network: '10.9.0.0/16', type: 'UNREACHABLE' },
);
put(proxyArpModel, {
  ranges: [{ first_ip_addr: '10.7.0.10', last_ip_addr: '10.7.0.20' }],
  interfaces: [{ name: 'op-loop' }],
});
put(aclModel, {
  name: 'op-acl',
  rules: [
    {
      action: 'PERMIT',
      ip_rule: {
        ip: { source_network: '10.7.0.0/24', destination_network: '0.0.0.0/0' },
        udp: {
          source_port_range: { lower_port: 0, upper_port: 65535 },
          destination_port_range: { lower_port: 53, upper_port: 53 },
        },
      },
    },
  ],
  interfaces: { ingress: ['op-loop'] },
});
put(dnat44Model, {
  label: 'op-dnat',
  st_mappings: [
    {
      external_ip: '10.7.1.1',
      external_port: 53,
      protocol: 'UDP',
      local_ips: [{ local_ip: '10.7.0.2', local_port: 5353 }],
    },
  ],
});
put(
  linuxInterfaceModel,
  {
    name: 'op-veth',
    type: 'VETH',
    host_if_name: 'opveth',
    enabled: true,
    phys_address: '02:00:00:00:00:05',
    ip_addresses: ['10.77.0.1/24'],
    veth: { peer_if_name: 'op-peer' },
  },
  {
    name: 'op-peer',
    type: 'VETH',
    host_if_name: 'oppeer',
    enabled: true,
    phys_address: '02:00:00:00:00:06',
    veth: { peer_if_name: 'op-veth' },
  },
);
put(linuxArpModel, {
  interface: 'op-veth',
  ip_address: '10.77.0.2',
  hw_address: '02:00:00:00:00:cc',
});
put(linuxRouteModel, {
  outgoing_interface: 'op-veth',
  scope: 'GLOBAL',
  dst_network: '10.78.0.0/16',
  gw_addr: '10.77.0.2',
});

export const operatorConfiguration: ExternalConfigSource = {
  label: 'operator',
  snapshot: async () => values,
};
