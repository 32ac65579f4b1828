/**
 * Paths of routes through an interface that was deleted past the agent. VPP keeps such a path, drops its
 * packets, and never lets it forward again: also not when another interface gets the index, and not for a
 * new route with equal paths, because routes share them. A dump does not distinguish it from a usable path.
 * Therefore all of them are removed before any interface is created.
 */
import type { Leftover } from '#kvscheduler/api/descriptor.ts';
import { vppInterfaceModel } from '#models/vpp/interface.ts';
import { vppRouteModel } from '#models/vpp/route.ts';
import { vrfTableKey } from '#models/vpp/vrf-table.ts';
import { fromPrefix } from '../../binapi/addresses.ts';
import type { VppClient } from '../../binapi/api.ts';
import { FibPathType } from '../../binapi/enums.gen.ts';
import type { FibPath, IpRouteV2, IpTable } from '../../binapi/messages.gen.ts';
import { NONE } from '../limits.ts';
import { missingInterfaces } from '../missing-interfaces.ts';

/** Destinations that the text of a leftover names. */
const NAMED_DESTINATIONS = 5;

/** The routes of one table. */
export interface TableOfSuspects {
  readonly table: IpTable;
  /** Routes with paths through interfaces that may not exist. */
  readonly routes: readonly IpRouteV2[];
  /** Reads such routes again. */
  readAgain(): Promise<readonly IpRouteV2[]>;
}

/** @returns one for each table, because VPP returns only whole tables */
export async function deadPaths(
  client: VppClient,
  suspects: readonly TableOfSuspects[],
): Promise<readonly Leftover[]> {
  const missing = await missingInterfaces(
    client,
    indexesOf(suspects.flatMap(({ routes }) => routes)),
  );
  return suspects.flatMap(({ table: { table_id, is_ip6 }, routes, readAgain }) => {
    const dead = routes.filter((route) => hasPathThrough(route, missing));
    if (dead.length === 0) return [];
    const family = is_ip6 ? 'IPV6' : 'IPV4';
    return {
      name: `paths/${table_id}/${family}`,
      what: `paths through deleted interfaces, of routes to ${destinationsOf(dead)}`,
      of: vrfTableKey.build({ id: table_id, protocol: family }),
      precedes: [vppInterfaceModel.keyPrefix, vppRouteModel.keyPrefix],
      remove: async () => removeDeadPaths(client, await readAgain()),
    };
  });
}

export function isThroughInterface({ type, sw_if_index }: FibPath): boolean {
  return type === FibPathType.FIB_API_PATH_TYPE_NORMAL && sw_if_index !== NONE;
}

async function removeDeadPaths(client: VppClient, routes: readonly IpRouteV2[]): Promise<void> {
  const missing = await missingInterfaces(client, indexesOf(routes));
  await Promise.all(
    routes
      .filter((route) => hasPathThrough(route, missing))
      .map(({ src: _, ...route }) => {
        const paths = route.paths.filter((path) => !isThrough(path, missing));
        // VPP refuses to delete a single path through an interface that does not exist
        const fields = {
          is_add: paths.length > 0,
          is_multipath: false,
          route: { ...route, paths },
        };
        return client.request('ip_route_add_del', fields);
      }),
  );
}

function indexesOf(routes: readonly IpRouteV2[]): ReadonlySet<number> {
  const paths = routes.flatMap((route) => route.paths).filter(isThroughInterface);
  return new Set(paths.map(({ sw_if_index }) => sw_if_index));
}

function hasPathThrough({ paths }: IpRouteV2, missing: ReadonlySet<number>): boolean {
  return paths.some((path) => isThrough(path, missing));
}

function isThrough(path: FibPath, missing: ReadonlySet<number>): boolean {
  return isThroughInterface(path) && missing.has(path.sw_if_index);
}

function destinationsOf(routes: readonly IpRouteV2[]): string {
  const named = routes.slice(0, NAMED_DESTINATIONS).map(({ prefix }) => fromPrefix(prefix));
  const more = routes.length - named.length;
  return named.join(', ') + (more > 0 ? ` and ${more} more` : '');
}
