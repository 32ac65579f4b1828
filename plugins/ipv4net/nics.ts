/** Items 1 to 3: the NICs of VPP, or the loopback that stands in for the main one. */
import type { DeepInput } from '#models/model.ts';
import { type VppInterface, vppInterfaceModel } from '#models/vpp/interface.ts';
import { vppRouteModel } from '#models/vpp/route.ts';
import type { InterfaceConfig, NodeInterfaceConfig } from '#plugins/contivconf/api.ts';
import { type KeyValue, keyValue } from './key-value.ts';
import { boundLink, LOOPBACK_NIC, nicMac } from './names.ts';
import { anyNetwork, familyOf, type NodeInput } from './node-input.ts';

export function nicValues(input: NodeInput): KeyValue[] {
  const { main, others, defaultGateway, routing } = input;
  const values = [
    main.name === undefined ? loopbackNic(input) : nic(input, { ...main, name: main.name }),
  ];
  // of a NIC that was taken over, the default route is among the host's own
  if (main.name !== undefined && !main.useDhcp && !input.stn && defaultGateway !== '')
    values.push(
      keyValue(vppRouteModel, {
        vrf_id: routing.mainVrf,
        dst_network: anyNetwork(familyOf(defaultGateway) ?? input.family),
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

/** A link of the kernel that VPP binds to is made by us; any other NIC VPP has by itself. */
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

/** Nothing is said about queues that stay as VPP has them. */
export function rxModes({
  rxMode,
}: Pick<InterfaceConfig, 'rxMode'>): DeepInput<VppInterface['rx_modes']> {
  return rxMode === 'DEFAULT' ? [] : [{ default_mode: true, mode: rxMode }];
}
