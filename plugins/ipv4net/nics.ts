/** Items 1 to 3: the NICs of VPP, or the loopback that stands in for the main one. */
import type { DeepInput } from '#models/model.ts';
import { type VppInterface, vppInterfaceModel } from '#models/vpp/interface.ts';
import { vppRouteModel } from '#models/vpp/route.ts';
import type { InterfaceConfig, NodeInterfaceConfig } from '#plugins/contivconf/api.ts';
import { type Item, item } from './items.ts';
import { boundLink, LOOPBACK_NIC, nicMac } from './names.ts';
import { anyNetwork, familyOf, type Site } from './site.ts';

export function nicItems(site: Site): Item[] {
  const { main, others, defaultGateway, routing } = site;
  const items = [main.name === undefined ? standIn(site) : nic(site, { ...main, name: main.name })];
  // of a NIC that was taken over, the default route is among the host's own
  if (main.name !== undefined && !main.useDhcp && !site.stn && defaultGateway !== '')
    items.push(
      item(vppRouteModel, {
        vrf_id: routing.mainVrf,
        dst_network: anyNetwork(familyOf(defaultGateway) ?? site.family),
        next_hop_addr: defaultGateway,
        outgoing_interface: main.name,
      }),
    );
  for (const other of others) items.push(nic(site, other));
  return items;
}

/** Logical name of the main interface. */
export function mainInterfaceName(site: Site): string {
  return site.main.name ?? LOOPBACK_NIC;
}

/** A link of the kernel that VPP binds to is made by us; any other NIC VPP has by itself. */
function nic(site: Site, config: NodeInterfaceConfig): Item {
  const link = boundLink(config.name);
  return item(vppInterfaceModel, {
    name: config.name,
    ...(link === undefined
      ? { type: 'DPDK' }
      : {
          type: 'AF_PACKET',
          afpacket: { host_if_name: link },
          phys_address: nicMac(site.nodeId, config.name),
        }),
    enabled: true,
    vrf: site.routing.mainVrf,
    ip_addresses: config.useDhcp ? [] : [...config.addresses],
    set_dhcp_client: config.useDhcp,
    rx_modes: rxModes(site.interfaces),
  });
}

function standIn(site: Site): Item {
  return item(vppInterfaceModel, {
    name: LOOPBACK_NIC,
    type: 'SOFTWARE_LOOPBACK',
    enabled: true,
    vrf: site.routing.mainVrf,
    ip_addresses: [...site.main.addresses],
  });
}

/** Nothing is said about queues that stay as VPP has them. */
export function rxModes({
  rxMode,
}: Pick<InterfaceConfig, 'rxMode'>): DeepInput<VppInterface['rx_modes']> {
  return rxMode === 'DEFAULT' ? [] : [{ default_mode: true, mode: rxMode }];
}
