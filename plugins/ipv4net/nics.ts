/** The NICs of VPP, or the loopback that replaces the main one (values 1 to 3 of the original). */

import { familyOf } from '#models/ip.ts';
import type { DeepInput } from '#models/model.ts';
import { type VppInterface, vppInterfaceModel } from '#models/vpp/interface.ts';
import { vppRouteModel } from '#models/vpp/route.ts';
import type { InterfaceConfig, NodeInterfaceConfig } from '#plugins/contivconf/api.ts';
import { type KeyValue, keyValue } from '#plugins/controller/api/key-value.ts';
import { boundLink, LOOPBACK_NIC, nicMac } from './names.ts';
import { anyNetwork, type NodeInput } from './node-input.ts';

export function nicValues(input: NodeInput): KeyValue[] {
  const { main, others, configuredAddresses: addresses } = input;
  return [
    ...(main.name === undefined
      ? [loopbackNic(input)]
      : [nic(input, { ...main, name: main.name, addresses }), ...defaultRoutes(input, main.name)]),
    ...others.map((other) => nic(input, other)),
  ];
}

/** With STN, a default route is one of the routes of the host; with DHCP, VPP makes that of the lease. */
function defaultRoutes(
  { main, stn, routing, defaultGateways }: NodeInput,
  nicName: string,
): KeyValue[] {
  if (stn) return [];
  return defaultGateways
    .map((gateway) => ({ gateway, family: familyOf(gateway)! }))
    .filter(({ family }) => family === 6 || !main.useDhcp)
    .map(({ gateway, family }) =>
      keyValue(vppRouteModel, {
        vrf_id: routing.mainVrf,
        dst_network: anyNetwork(family),
        next_hop_addr: gateway,
        outgoing_interface: nicName,
      }),
    );
}

/** Logical name of the main interface. */
export function mainInterfaceName(input: NodeInput): string {
  return input.main.name ?? LOOPBACK_NIC;
}

/** The agent creates the interface that is bound to a link of the kernel; other NICs exist in VPP. */
function nic(input: NodeInput, config: NodeInterfaceConfig): KeyValue {
  const link = boundLink(config.name);
  return keyValue(vppInterfaceModel, {
    name: config.name,
    ...(link === undefined
      ? { type: 'DPDK' }
      : {
          type: 'AF_PACKET',
          afpacket: { host_if_name: link },
          phys_address: nicMac(input.nodeId, config.name),
        }),
    enabled: true,
    vrf: input.routing.mainVrf,
    ip_addresses: [...config.addresses],
    set_dhcp_client: config.useDhcp,
    rx_modes: rxModes(input.interfaces),
  });
}

function loopbackNic(input: NodeInput): KeyValue {
  return keyValue(vppInterfaceModel, {
    name: LOOPBACK_NIC,
    type: 'SOFTWARE_LOOPBACK',
    enabled: true,
    vrf: input.routing.mainVrf,
    ip_addresses: [...input.main.addresses],
  });
}

/**
 * The default mode configures nothing, so that queues keep the mode of VPP, or the one that an operator has
 * set. VPP does not report whether a mode is its default: one that was configured before stays, too.
 */
export function rxModes({
  rxMode,
}: Pick<InterfaceConfig, 'rxMode'>): DeepInput<VppInterface['rx_modes']> {
  return rxMode === 'DEFAULT' ? [] : [{ default_mode: true, mode: rxMode }];
}
