/** Address and route lookup of a device. */
import { network, sameAddress } from './addresses.ts';
import type { Device, Interface, Route, RouteAction } from './snapshot.ts';

/** The interface that has the address; `interface` is undefined if it is unknown. */
export function findAddress(
  device: Device,
  table: number,
  address: string,
): { readonly interface: Interface | undefined } | undefined {
  for (const one of device.interfaces.values()) {
    const isThere = one.enabled && one.table === table;
    if (isThere && one.addresses.some((own) => sameAddress(own, address)))
      return { interface: one };
  }
  const isOther = device.otherAddresses.some((own) => sameAddress(own, address));
  return isOther ? { interface: undefined } : undefined;
}

/** A route with its resolved action; undefined: the next hop cannot be resolved. */
interface Path {
  readonly route: Route;
  readonly action: Exclude<RouteAction, { readonly kind: 'recursive' }> | undefined;
}

export interface RouteLookup extends Path {
  /** Number of equally preferred paths, including this one. */
  readonly paths: number;
}

/** Maximum depth of recursive next hops; a deeper recursion is a loop. */
const MAX_RECURSION = 8;

/**
 * Longest prefix match. For equal lengths, connected networks precede routes, and routes precede
 * neighbors. Among several routes, usable ones precede others, then the preference decides.
 */
export function lookUp(
  device: Device,
  table: number,
  address: string,
  depth = MAX_RECURSION,
): RouteLookup | undefined {
  let routes: readonly Route[] = [];
  for (const source of [connected(device, table), device.routes, adjacent(device, table)]) {
    const found = longest(source, table, address);
    if (lengthOf(found) > lengthOf(routes)) routes = found;
  }
  const paths = routes
    .map((route): Path => ({ route, action: resolve(device, route, depth) }))
    .toSorted((a, b) => a.route.preference - b.route.preference);
  const leading = paths.filter(({ action }) => isUsable(device, action));
  const [first = paths[0]] = leading;
  if (!first) return undefined;
  const isAsGood = ({ route }: Path) => route.preference === first.route.preference;
  return { ...first, paths: Math.max(1, leading.filter(isAsGood).length) };
}

function lengthOf([first]: readonly Route[]): number {
  return first ? network(first.destination).length : -1;
}

/** All routes with the longest matching prefix. */
function longest(routes: Iterable<Route>, table: number, address: string): readonly Route[] {
  let found: Route[] = [];
  let length = -1;
  for (const route of routes) {
    if (route.table !== table) continue;
    const destination = network(route.destination);
    if (destination.length < length || !destination.contains(address)) continue;
    if (destination.length > length) found = [];
    length = destination.length;
    found.push(route);
  }
  return found;
}

function resolve(device: Device, { action, table }: Route, depth: number): Path['action'] {
  if (action.kind !== 'recursive') return action;
  if (depth === 0) return undefined;
  const { nextHop } = action;
  const via = lookUp(device, action.table ?? table, nextHop, depth - 1)?.action;
  return via?.kind === 'via' ? { ...via, nextHop: via.nextHop ?? nextHop } : via;
}

function isUsable({ interfaces }: Device, action: Path['action']): boolean {
  return action?.kind === 'via'
    ? interfaces.get(action.interface)?.up === true
    : action !== undefined;
}

/** Connected networks of interfaces, as routes. */
function* connected(device: Device, table: number): Generator<Route> {
  for (const { name, enabled, table: own, addresses, key } of device.interfaces.values())
    if (enabled && own === table)
      for (const destination of addresses) yield directRoute(name, table, destination, key);
}

/** Neighbors of interfaces, as host routes. */
function* adjacent(device: Device, table: number): Generator<Route> {
  if (!device.routesToNeighbors) return;
  for (const { interface: name, address, key } of device.neighbors) {
    const holder = device.interfaces.get(name);
    if (holder?.enabled && holder.table === table) yield directRoute(name, table, address, key);
  }
}

function directRoute(name: string, table: number, destination: string, key: string): Route {
  const action = { kind: 'via', interface: name, nextHop: undefined } as const;
  return { table, destination, preference: 0, action, key };
}
