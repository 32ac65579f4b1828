/**
 * The state that the VPP and the kernel of a node report: also routes, drops and interfaces that were added
 * past the agent. Names of managed interfaces are those of their values.
 */
import type { AclConfig } from './acl-config.ts';
import type { CnatConfig } from './cnat.ts';
import type { NatConfig, NatPoolAddress } from './nat-config.ts';
import type { Device, Interface, Neighbor, Route, RouteAction, Wire } from './snapshot.ts';

export interface ActualState {
  readonly vpp: ActualDevice;
  readonly namespaces: readonly ActualNamespace[];
}

export interface ActualNamespace extends ActualDevice {
  /** Path; empty: the namespace of the host. */
  readonly path: string;
}

export interface ActualDevice {
  readonly interfaces: readonly ActualInterface[];
  /** Of all tables and origins, as far as they are in effect. */
  readonly routes: readonly ActualRoute[];
  /** Those that decide where a packet goes, configured or learned. */
  readonly neighbors: readonly Omit<Neighbor, 'key'>[];
  /** VPP with NAT44. */
  readonly nat?: NatConfig;
  /** VPP with translations of cnat. */
  readonly cnat?: CnatConfig;
  /** VPP with ACLs on interfaces. */
  readonly acls?: AclConfig;
}

export interface ActualInterface {
  readonly name: string;
  readonly enabled: boolean;
  /** Enabled, and its link is up. */
  readonly up: boolean;
  /** Of IPv4, if `table6` is present. */
  readonly table: number;
  /** Absent: the same as `table`. */
  readonly table6?: number;
  readonly mac: string;
  readonly addresses: readonly string[];
  readonly isRouted: boolean;
  readonly isLoopback: boolean;
}

export interface ActualRoute {
  readonly table: number;
  readonly destination: string;
  readonly preference: number;
  readonly action: RouteAction;
}

interface Topology {
  readonly devices: readonly Device[];
  readonly wires: readonly Wire[];
}

/** Replaces interfaces and routes of the devices by the actual ones; keys of values stay. */
export function withActualState<T extends Topology>(
  node: string,
  topology: T,
  { vpp, namespaces }: ActualState,
): T {
  const actual = new Map<string, ActualDevice>([[`${node}/vpp`, vpp]]);
  for (const space of namespaces) actual.set(`${node}/${space.path || 'host'}`, space);
  const wires: Wire[] = [];
  const devices = topology.devices.map((device) => {
    const found = actual.get(device.name);
    if (found === undefined) return device;
    // the network behind an unmanaged link is unknown
    for (const { name, isLoopback } of found.interfaces)
      if (!device.interfaces.has(name) && !isLoopback)
        wires.push({ ports: [{ device: device.name, interface: name }], isOpen: true });
    return actualDevice(device, found);
  });
  return { ...topology, devices, wires: [...topology.wires, ...wires] };
}

function actualDevice(device: Device, found: ActualDevice): Device {
  const interfaces = found.interfaces.map(
    (one): Interface => ({
      tunnel: undefined,
      key: '',
      ...device.interfaces.get(one.name),
      ...one,
    }),
  );
  // There may be ten thousand routes, of which each is searched among the others.
  const configured = Map.groupBy(device.routes, placeOf);
  return {
    ...device,
    interfaces: new Map(interfaces.map((one) => [one.name, one])),
    routes: found.routes.map(
      (route): Route => ({ ...route, key: keyOf(configured.get(placeOf(route)), route) }),
    ),
    neighbors: found.neighbors.map((one) => {
      const same = ({ interface: name, address }: Neighbor): boolean =>
        name === one.interface && address === one.address;
      return { ...one, key: device.neighbors.find(same)?.key ?? '' };
    }),
    // the routes of VPP contain those to its neighbors
    routesToNeighbors: false,
    nat: found.nat && withPoolKeys(found.nat, device.nat),
    cnat: found.cnat,
    acls: found.acls,
  };
}

function placeOf({ table, destination }: Pick<Route, 'table' | 'destination'>): string {
  return `${table} ${destination}`;
}

/** @param configured routes of the same table to the same destination */
function keyOf(configured: readonly Route[] | undefined, { action }: ActualRoute): string {
  const text = JSON.stringify(action);
  return configured?.find((route) => JSON.stringify(route.action) === text)?.key ?? '';
}

/** VPP knows no names of pools. */
function withPoolKeys(found: NatConfig, configured: NatConfig | undefined): NatConfig {
  const keyed = (pool: 'pool' | 'twiceNatPool'): readonly NatPoolAddress[] =>
    found[pool].map((one) => ({
      ...one,
      key: configured?.[pool].find(({ address }) => address === one.address)?.key ?? '',
    }));
  return { ...found, pool: keyed('pool'), twiceNatPool: keyed('twiceNatPool') };
}
