/**
 * The devices of a node, from configured values: the desired state of its agent, or the actual state
 * read from its VPP and Linux. The devices are `<node>/vpp`, `<node>/host`, and `<node>/<namespace>`
 * for each network namespace.
 */
import { type LinuxArpEntry, linuxArpModel } from '#models/linux/arp.ts';
import { type LinuxInterface, linuxInterfaceModel } from '#models/linux/interface.ts';
import { type LinuxRoute, linuxRouteModel } from '#models/linux/route.ts';
import { type VppArpEntry, vppArpModel } from '#models/vpp/arp.ts';
import { type BridgeDomain, bridgeDomainModel } from '#models/vpp/bridge-domain.ts';
import { linkStateKey } from '#models/vpp/derived.ts';
import { type FIBEntry, fibEntryModel } from '#models/vpp/fib-entry.ts';
import { layer3Table, type VppInterface, vppInterfaceModel } from '#models/vpp/interface.ts';
import { type VppRoute, vppRouteModel } from '#models/vpp/route.ts';
import { aclsOfValues } from './acl-values.ts';
import { type ActualState, withActualState } from './actual-state.ts';
import { cnatOfValues } from './cnat.ts';
import type { NodeIsolation } from './isolation.ts';
import { natOfValues } from './nat-values.ts';
import { linkPrograms } from './service-links.ts';
import type {
  Bridge,
  Device,
  Interface,
  Neighbor,
  Port,
  Route,
  RouteAction,
  Wire,
} from './snapshot.ts';
import { exemptNamespaces, socketsOfValues } from './sockets.ts';
import { type Values, valuesOf } from './values.ts';
import { peersOfValues } from './wireguard.ts';

export interface NodeValues {
  readonly name: string;
  /** By key; JSON or canonical values. Keys of other models are ignored. */
  readonly values: Iterable<readonly [key: string, value: unknown]>;
  /** Plain addresses of the host that are not configured by the agent. */
  readonly hostAddresses: readonly string[];
  readonly isolation?: NodeIsolation | undefined;
  /** Absent: only the values are known. */
  readonly actual?: ActualState | undefined;
}

export interface NodeTopology {
  readonly devices: readonly Device[];
  readonly wires: readonly Wire[];
  /** VPP interfaces that connect the node to the network. */
  readonly uplinks: readonly Uplink[];
}

export interface Uplink {
  readonly port: Port;
  /** 0: untagged. */
  readonly vlan: number;
}

/** @throws InvalidModelError for a value that is invalid for its model */
export function nodeTopology(node: NodeValues): NodeTopology {
  const topology = configuredTopology(node);
  return node.actual ? withActualState(node.name, topology, node.actual) : topology;
}

function configuredTopology({ name, values, hostAddresses, isolation }: NodeValues): NodeTopology {
  const all = new Map(values);
  const links = valuesOf<LinuxInterface>(linuxInterfaceModel, all);
  const connections = nodeWires(
    name,
    [...valuesOf<VppInterface>(vppInterfaceModel, all).values()],
    links,
  );
  return {
    devices: [vppDevice(`${name}/vpp`, all), ...linuxDevices(name, all, links, hostAddresses)].map(
      (device) => ({ ...device, isolation }),
    ),
    wires: connections.wires,
    uplinks: connections.uplinks,
  };
}

function vppDevice(name: string, all: ReadonlyMap<string, unknown>): Device {
  const interfaces = valuesOf<VppInterface>(vppInterfaceModel, all);
  const tables = new Map([...interfaces.values()].map((one) => [one.name, layer3Table(one)]));
  const addresses = new Map([...interfaces.values()].map((one) => [one.name, one.ip_addresses]));
  const peers = peersOfValues(all);
  // Link states are known only for the actual state.
  const knowsLinks = [...all.keys()].some((key) => linkStateKey.parse(key));
  const hasLink = (iface: string) =>
    !knowsLinks || all.has(linkStateKey.build({ iface, state: 'UP' }));
  return {
    name,
    forwards: true,
    interfaces: byName(
      [...interfaces].map(([key, one]) => ({
        name: one.name,
        enabled: one.enabled,
        up: one.enabled && hasLink(one.name),
        // An unnumbered interface is in the table of the interface whose address it borrows.
        table: tables.get(one.unnumbered?.interface_with_ip ?? one.name) ?? layer3Table(one),
        mac: one.phys_address,
        addresses: one.ip_addresses,
        tunnel: one.vxlan && {
          source: one.vxlan.src_address,
          destination: one.vxlan.dst_address,
          vni: one.vxlan.vni,
          table: one.vrf,
        },
        wireguard: one.wireguard && {
          source: one.wireguard.src_addr,
          port: one.wireguard.port,
          publicKey: one.wireguard.public_key,
          peers: peers.get(one.name) ?? [],
        },
        isLoopback: one.type === 'SOFTWARE_LOOPBACK',
        key: key,
      })),
    ),
    routes: [...valuesOf<VppRoute>(vppRouteModel, all)].map(([key, route]) => ({
      table: route.vrf_id,
      destination: route.dst_network,
      preference: route.preference,
      action: actionOf(route),
      key: key,
    })),
    neighbors: [...valuesOf<VppArpEntry>(vppArpModel, all)].map(([key, one]) => ({
      interface: one.interface,
      address: one.ip_address,
      mac: one.phys_address,
      key: key,
    })),
    routesToNeighbors: true,
    bridges: bridges(all),
    otherAddresses: [],
    hasOtherRoutes: false,
    nat: natOfValues(all, (iface) => addresses.get(iface) ?? []),
    cnat: cnatOfValues(all),
    acls: aclsOfValues(all),
  };
}

function actionOf(route: VppRoute): RouteAction {
  if (route.type === 'DROP') return { kind: 'drop' };
  if (route.type === 'UNREACHABLE') return { kind: 'refuse' };
  if (route.type === 'SOURCE_VRF') return { kind: 'source-table', table: route.via_vrf_id };
  const isGiven = !['', '0.0.0.0', '::'].includes(route.next_hop_addr);
  const nextHop = isGiven ? route.next_hop_addr : undefined;
  if (route.type === 'INTER_VRF') {
    const table = route.via_vrf_id;
    return nextHop === undefined ? { kind: 'table', table } : { kind: 'recursive', nextHop, table };
  }
  if (route.outgoing_interface !== '')
    return { kind: 'via', interface: route.outgoing_interface, nextHop };
  return nextHop === undefined ? { kind: 'drop' } : { kind: 'recursive', nextHop };
}

function bridges(all: ReadonlyMap<string, unknown>): Bridge[] {
  const entries = [...valuesOf<FIBEntry>(fibEntryModel, all)];
  return [...valuesOf<BridgeDomain>(bridgeDomainModel, all)].map(([key, domain]) => ({
    name: domain.name,
    members: domain.interfaces.map((one) => ({
      interface: one.name,
      group: one.split_horizon_group,
    })),
    routed: domain.interfaces.find((one) => one.bridged_virtual_interface)?.name,
    floods: domain.unknown_unicast_flood,
    entries: entries
      .filter(([, { bridge_domain }]) => bridge_domain === domain.name)
      .map(([key, { phys_address, action, outgoing_interface }]) => ({
        mac: phys_address,
        interface: action === 'FORWARD' ? outgoing_interface : undefined,
        key,
      })),
    key: key,
  }));
}

function deviceOf(node: string, { namespace }: LinuxInterface): string {
  return namespace?.reference ? `${node}/${namespace.reference}` : `${node}/host`;
}

function linuxDevices(
  node: string,
  all: ReadonlyMap<string, unknown>,
  links: Values<LinuxInterface>,
  hostAddresses: readonly string[],
): Device[] {
  const routes = [...valuesOf<LinuxRoute>(linuxRouteModel, all)];
  const neighbors = [...valuesOf<LinuxArpEntry>(linuxArpModel, all)];
  const host = `${node}/host`;
  const sockets = socketsOfValues(all);
  const exempt = new Set([...exemptNamespaces(all)].map((path) => `${node}/${path}`));
  const programs = linkPrograms(
    all,
    new Map([...links].filter(([, link]) => deviceOf(node, link) === host)),
  );
  const linksByDevice = Map.groupBy([...links], ([, link]) => deviceOf(node, link));
  if (!linksByDevice.has(host)) linksByDevice.set(host, []);
  return [...linksByDevice].map(([name, own]) => {
    const has = new Set(own.map(([, link]) => link.name));
    return {
      name,
      forwards: name === host,
      interfaces: byName(own.map(([key, link]) => linuxInterface(key, link))),
      routes: routes
        .filter(([, { outgoing_interface }]) => has.has(outgoing_interface))
        .map(([key, route]) => linuxRoute(key, route)),
      neighbors: neighbors
        .filter(([, one]) => has.has(one.interface))
        .map(
          ([key, one]): Neighbor => ({
            interface: one.interface,
            address: one.ip_address,
            mac: one.hw_address,
            key: key,
          }),
        ),
      routesToNeighbors: false,
      bridges: [],
      otherAddresses: name === host ? hostAddresses : [],
      hasOtherRoutes: name === host,
      sockets: exempt.has(name) ? undefined : sockets,
      linkPrograms: name === host ? programs : undefined,
    };
  });
}

function linuxInterface(key: string, link: LinuxInterface): Interface {
  return {
    name: link.name,
    enabled: link.enabled,
    up: link.enabled,
    table: 0,
    mac: link.phys_address,
    addresses: link.ip_addresses,
    tunnel: undefined,
    isLoopback: link.type === 'LOOPBACK',
    key: key,
  };
}

function linuxRoute(key: string, route: LinuxRoute): Route {
  const nextHop = route.gw_addr === '' ? undefined : route.gw_addr;
  return {
    table: 0,
    destination: route.dst_network,
    preference: route.metric,
    action: { kind: 'via', interface: route.outgoing_interface, nextHop },
    key: key,
  };
}

/** Wires within the node; VPP interfaces without a wire are uplinks. */
function nodeWires(
  node: string,
  interfaces: readonly VppInterface[],
  links: Values<LinuxInterface>,
): { readonly wires: Wire[]; readonly uplinks: Uplink[] } {
  const wires: Wire[] = [];
  const uplinks: Uplink[] = [];
  const byLinkName = new Map([...links.values()].map((link) => [link.name, link]));
  const hostLinks = new Map(
    [...links.values()]
      .filter((link) => deviceOf(node, link) === `${node}/host`)
      .map((link) => [link.host_if_name || link.name, link]),
  );
  const taps = new Map(
    [...links.values()].flatMap((link) =>
      link.tap ? [[link.tap.vpp_tap_if_name, link] as const] : [],
    ),
  );
  for (const one of interfaces) {
    const port = { device: `${node}/vpp`, interface: one.name };
    if (one.type === 'AF_PACKET') {
      // VPP is bound to one end of a veth: frames that it sends arrive at the other end.
      const bound = hostLinks.get(one.afpacket?.host_if_name ?? '');
      const peer = bound?.veth && byLinkName.get(bound.veth.peer_if_name);
      if (!bound) uplinks.push({ port, vlan: 0 });
      else if (bound.enabled && peer) wires.push(wire(port, linuxPort(node, peer)));
    } else if (one.type === 'TAP') {
      const link = taps.get(one.name);
      if (link) wires.push(wire(port, linuxPort(node, link)));
    } else if (isUplink(one)) uplinks.push({ port, vlan: one.sub?.sub_id ?? 0 });
  }
  return { wires, uplinks };
}

function wire(...ports: Port[]): Wire {
  return { ports, isOpen: false };
}

function linuxPort(node: string, link: LinuxInterface): Port {
  return { device: deviceOf(node, link), interface: link.name };
}

function isUplink({ type }: VppInterface): boolean {
  return !['SOFTWARE_LOOPBACK', 'VXLAN_TUNNEL', 'WIREGUARD_TUNNEL'].includes(type);
}

function byName(interfaces: readonly Interface[]): ReadonlyMap<string, Interface> {
  return new Map(interfaces.map((one) => [one.name, one]));
}
