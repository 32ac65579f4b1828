/**
 * A link between VRFs: a loopback, in a VRF of its own or in that to which it leads. A packet that is routed to the neighbor behind it comes in
 * again by the same interface, because a loopback receives what it transmits, and the routes of that VRF lead it on.
 * So a packet that changes its VRF has an interface at which VPP filters or translates it.
 */
import type { IpFamily } from '#models/ip.ts';
import { vppArpModel } from '#models/vpp/arp.ts';
import { vppInterfaceModel } from '#models/vpp/interface.ts';
import { vppRouteModel } from '#models/vpp/route.ts';
import { vrfTableModel } from '#models/vpp/vrf-table.ts';
import { type KeyValue, keyValue } from '#plugins/controller/api/key-value.ts';

export interface LoopedLink {
  readonly name: string;
  /** ID of the VRF in which its packets come in again. */
  readonly table: number;
  /** Own address with prefix length, and that of the neighbor, which no interface has. */
  readonly addresses: Readonly<
    Partial<Record<IpFamily, { readonly own: string; readonly neighbor: string }>>
  >;
}

/** The VRF of the link alone. */
export function linkTable(link: LoopedLink, family: IpFamily): KeyValue {
  return keyValue(vrfTableModel, {
    id: link.table,
    protocol: `IPV${family}`,
    label: `${link.name}-IPv${family}`,
  });
}

/** The interface and its neighbor in each family. */
export function loopedLinkValues(
  link: LoopedLink,
  families: readonly IpFamily[],
  mac: string,
): KeyValue[] {
  return [
    keyValue(vppInterfaceModel, {
      name: link.name,
      type: 'SOFTWARE_LOOPBACK',
      enabled: true,
      vrf: link.table,
      phys_address: mac,
      ip_addresses: families.map((family) => addressesOf(link, family).own),
    }),
    ...families.map((family) =>
      keyValue(vppArpModel, {
        interface: link.name,
        ip_address: addressesOf(link, family).neighbor,
        phys_address: mac,
        static: true,
      }),
    ),
  ];
}

/** A route of a VRF over the link. */
export function routeOverLink(
  link: LoopedLink,
  family: IpFamily,
  vrf: number,
  destination: string,
): KeyValue {
  return keyValue(vppRouteModel, {
    vrf_id: vrf,
    dst_network: destination,
    next_hop_addr: addressesOf(link, family).neighbor,
    outgoing_interface: link.name,
  });
}

function addressesOf({ name, addresses }: LoopedLink, family: IpFamily) {
  const found = addresses[family];
  if (found === undefined) throw new Error(`${name} has no IPv${family}`);
  return found;
}
