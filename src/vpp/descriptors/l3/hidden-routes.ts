/**
 * Routes that VPP has but does not return, because another source determines the destination: the network of
 * an interface, one of its addresses, an address of NAT44. VPP keeps the route, and uses it when the other
 * source is removed.
 */
import type { KeyedValue } from '#kvscheduler/api/descriptor.ts';
import type { VppRoute } from '#models/vpp/route.ts';
import { toPrefix } from '../../binapi/addresses.ts';
import type { VppClient } from '../../binapi/api.ts';
import { FibPathType } from '../../binapi/enums.gen.ts';
import type { IpRouteV2 } from '../../binapi/messages.gen.ts';
import { VppRefusedError } from '../../binapi/retval-error.ts';
import type { FibSources } from './fib-sources.ts';

const UNREACHABLE = FibPathType.FIB_API_PATH_TYPE_ICMP_UNREACH;
const NO_SUCH_FIB = -3;
const NO_SUCH_ENTRY = -6;

/** Those of the routes whose destinations are determined by a source with precedence over the API. */
export async function hiddenRoutes(
  client: VppClient,
  sources: FibSources,
  routes: readonly KeyedValue<VppRoute>[],
): Promise<readonly KeyedValue<VppRoute>[]> {
  const isHidden = await Promise.all(
    routes.map(async ({ value }) => {
      const source = (await routeTo(client, value))?.src;
      return source !== undefined && sources.precedesApi(source);
    }),
  );
  return routes.filter((_, position) => isHidden[position]);
}

/**
 * Those of the routes that refuse an address before which cnat has put itself: VPP returns its source, with the path of the
 * route.
 */
export async function refusalsBehindCnat(
  client: VppClient,
  { cnat }: FibSources,
  routes: readonly KeyedValue<VppRoute>[],
): Promise<readonly KeyedValue<VppRoute>[]> {
  if (cnat === undefined) return [];
  const entries = await Promise.all(
    routes.map(({ value }) => (mayBeBehindCnat(value) ? routeTo(client, value) : undefined)),
  );
  return routes.filter((_, position) => {
    const { src, paths = [] } = entries[position] ?? {};
    return src === cnat && paths.some(({ type }) => type === UNREACHABLE);
  });
}

function mayBeBehindCnat({ type, dst_network }: VppRoute): boolean {
  return type === 'UNREACHABLE' && dst_network.endsWith('/128');
}

/**
 * The entry for the destination of a route, by the source with precedence over the others; undefined if VPP has
 * none.
 */
export async function routeTo(client: VppClient, route: VppRoute): Promise<IpRouteV2 | undefined> {
  const { vrf_id: table_id, dst_network } = route;
  try {
    const fields = { table_id, exact: 1, prefix: toPrefix(dst_network) };
    return (await client.request('ip_route_lookup_v2', fields)).route;
  } catch (thrown) {
    const tolerated = [NO_SUCH_FIB, NO_SUCH_ENTRY];
    if (thrown instanceof VppRefusedError && tolerated.includes(thrown.retval)) return undefined;
    throw thrown;
  }
}
