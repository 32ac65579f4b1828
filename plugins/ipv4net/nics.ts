/** The NICs of VPP, or the loopback that replaces the main one (values 1 to 3 of the original). */
import type { DeepInput } from '#models/model.ts';
import { type VppInterface, vppInterfaceModel } from '#models/vpp/interface.ts';
import { vppRouteModel } from '#models/vpp/route.ts';
import type { InterfaceConfig, NodeInterfaceConfig } from '#plugins/contivconf/api.ts';
import { type KeyValue, keyValue } from '#plugins/controller/api/key-value.ts';
import { boundLink, LOOPBACK_NIC, nicMac } from './names.ts';
import { anyNetwork, familyOf, type NodeInput } from './node-input.ts';

export function nicValues(input: NodeInput): KeyValue[] {
  const { main, others, defaultGateway, routing } = input;
  const values = [
    main.name === undefined ? loopbackNic(input) : nic(input, { ...main, name: main.name }),
  ];
  // with STN, the default route is one of the routes of the host
  if (main.name !== undefined && !main.useDhcp && !input.stn && defaultGateway !== '')
    values.push(
      keyValue(vppRouteModel, {
        vrf_id: routing.mainVrf,
        dst_network: anyNetwork(familyOf(defaultGateway) ?? input.networks[0].family),
        next_hop_addr: defaultGateway,
        outgoing_interface: main.name,
      }),
    );
  for (const other of others) values.push(nic(input, other));
  return values;
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
    ip_addresses: config.useDhcp ? [] : [...config.addresses],
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
