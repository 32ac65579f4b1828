/**
 * Paths of routes through an interface that was deleted past the agent. VPP keeps such a path, drops its
 * packets, and never lets it forward again: also not when another interface gets the index, and not for a
 * new route with equal paths, because routes share them. A dump does not distinguish it from a usable path.
 * Therefore all of them are removed before any interface is created.
 */
import type { Logger } from '#infra/log/log.ts';
import { fromPrefix } from '../../binapi/addresses.ts';
import type { VppClient } from '../../binapi/api.ts';
import { FibPathType } from '../../binapi/enums.gen.ts';
import type { FibPath, IpRouteV2 } from '../../binapi/messages.gen.ts';
import { NONE } from '../limits.ts';
import { missingInterfaces } from '../missing-interfaces.ts';

/** @param suspects routes with paths through interfaces that may not exist */
export async function removeDeadPaths(
  client: VppClient,
  log: Logger,
  suspects: readonly IpRouteV2[],
): Promise<void> {
  const paths = suspects.flatMap((route) => route.paths).filter(isThroughInterface);
  const indexes = new Set(paths.map(({ sw_if_index }) => sw_if_index));
  const missing = await missingInterfaces(client, indexes);
  const isDead = (path: FibPath): boolean =>
    isThroughInterface(path) && missing.has(path.sw_if_index);
  const dead = suspects.filter(({ paths }) => paths.some(isDead));
  await Promise.all(
    dead.map(({ src: _, ...route }) => {
      const paths = route.paths.filter((path) => !isDead(path));
      log.warn(
        { table: route.table_id, destination: fromPrefix(route.prefix), paths: paths.length },
        'removing paths of a route through a deleted interface',
      );
      // VPP refuses to delete a single path through an interface that does not exist
      const fields = { is_add: paths.length > 0, is_multipath: false, route: { ...route, paths } };
      return client.request('ip_route_add_del', fields);
    }),
  );
}

export function isThroughInterface({ type, sw_if_index }: FibPath): boolean {
  return type === FibPathType.FIB_API_PATH_TYPE_NORMAL && sw_if_index !== NONE;
}
