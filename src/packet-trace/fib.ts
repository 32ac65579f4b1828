/** Address and route lookup of a device. */
import { DeviceIndex } from './device-index.ts';
import type { Device, Interface, Route, RouteAction } from './snapshot.ts';

/** The interface that has the address; `interface` is undefined if it is unknown. */
export function findAddress(
  device: Device,
  table: number,
  address: string,
): { readonly interface: Interface | undefined } | undefined {
  const index = DeviceIndex.of(device);
  const found = index.interfaceOf(table, address);
  return found || index.isOtherAddress(address) ? { interface: found } : undefined;
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
  const paths = DeviceIndex.of(device)
    .longest(table, address)
    .map((route): Path => ({ route, action: resolve(device, route, depth) }))
    .toSorted((a, b) => a.route.preference - b.route.preference);
  const leading = paths.filter(({ action }) => isUsable(device, action));
  const [first = paths[0]] = leading;
  if (!first) return undefined;
  const isAsGood = ({ route }: Path) => route.preference === first.route.preference;
  return { ...first, paths: Math.max(1, leading.filter(isAsGood).length) };
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
