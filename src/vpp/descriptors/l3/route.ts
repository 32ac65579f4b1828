import { checkField } from '#kvscheduler/api/check-field.ts';
import { defineDescriptor } from '#kvscheduler/api/define-descriptor.ts';
import type { KeyedValue, KvDescriptor, OperationContext } from '#kvscheduler/api/descriptor.ts';
import { vppInterfaceKey } from '#models/vpp/interface.ts';
import { type VppRoute, vppRouteKey, vppRouteModel } from '#models/vpp/route.ts';
import { vrfTableKey } from '#models/vpp/vrf-table.ts';
import type { VppInterfaceMetadata } from '#plugins/controller/api/ports/metadata.ts';
import type { VppClient } from '../../binapi/api.ts';
import type { FibPath, IpRoute, IpRouteV2 } from '../../binapi/messages.gen.ts';
import { ignoreNotFound } from '../ignored-retvals.ts';
import { mapInSlices } from '../map-in-slices.ts';
import { interfaceNames } from '../names-by-index.ts';
import type { VppDescriptorOptions } from '../options.ts';
import { deadPaths, isThroughInterface, type TableOfSuspects } from './dead-paths.ts';
import { FibSourceReader } from './fib-sources.ts';
import { hiddenRoutes, refusalsBehindCnat, routeTo } from './hidden-routes.ts';
import {
  fromPath,
  isAny,
  leadsToTable,
  pathIdentity,
  routeToAdd,
  routeToDelete,
  weight,
} from './route-path.ts';

/**
 * Routes. Managed are those whose source is the API. The dump requests only that source and does not
 * return routes of VPP itself, its neighbors or its DHCP client. Nor does it return a route to a subnet of
 * which an interface in the table has an address: the subnet of the interface is in effect instead. Such a
 * route exists if it was configured or found on this connection to VPP; otherwise it is added again.
 * A route that refuses an address is returned with the source of cnat while that translates there.
 */
export function routeDescriptor({
  client,
  clock,
}: VppDescriptorOptions): KvDescriptor<VppRoute, undefined> {
  const fibSources = new FibSourceReader(client);
  const addOrDelete = (
    route: VppRoute,
    is_add: boolean,
    ctx: OperationContext,
  ): Promise<unknown> => {
    const name = route.outgoing_interface;
    const index =
      name === ''
        ? undefined
        : ctx.metadata<VppInterfaceMetadata>(vppInterfaceKey.build({ name })).swIfIndex;
    const sent = is_add ? routeToAdd(route, index) : routeToDelete(route, index);
    return client.request('ip_route_add_del', { is_add, is_multipath: true, route: sent });
  };
  return defineDescriptor('vpp-route', vppRouteModel, {
    retrieveDependencies: ['vpp-interface', 'vpp-vrf-table'],
    validate,
    equivalent: (_key, a, b) =>
      pathIdentity(a) === pathIdentity(b) &&
      (a.type === 'SOURCE_VRF') === (b.type === 'SOURCE_VRF') &&
      weight(a) === weight(b) &&
      a.preference === b.preference,
    claims: (_key, value) => [`path/${pathIdentity(value)}`],
    dependencies: (_key, value) => dependencies(value),

    async create(_key, value, ctx) {
      await addOrDelete(value, true, ctx);
      return undefined;
    },
    delete: (_key, value, _metadata, ctx) => ignoreNotFound(addOrDelete(value, false, ctx)),

    async retrieve(correlate, ctx) {
      const sources = await fibSources.get();
      if (sources === undefined) return [];
      const names = interfaceNames(ctx);
      // if two keys want one path, it belongs to the first by key, which would claim it
      const desired = new Map<string, KeyedValue<VppRoute>>();
      await mapInSlices(clock, correlate, (each) => {
        const identity = pathIdentity(each.value);
        const same = desired.get(identity);
        if (same === undefined || each.key < same.key) desired.set(identity, each);
      });
      const found = new Map<string, VppRoute>();
      const unmatched: VppRoute[] = [];
      const suspects: TableOfSuspects[] = [];
      const isSuspect = (path: FibPath): boolean =>
        isThroughInterface(path) && !names.has(path.sw_if_index);
      const read = (route: IpRoute, path: FibPath): void => {
        const value = fromPath(route, path, names);
        if (value === undefined) return;
        const meant = desired.get(pathIdentity(value));
        if (meant === undefined) unmatched.push(value);
        else found.set(meant.key, adopt(meant.value, value));
      };
      // one table after another: VPP forwards no packets while it returns a table, which cannot be split
      const tables = ctx.only ? [] : await client.dump('ip_table_dump', {});
      for (const { table } of tables) {
        const readTable = async (each: (route: IpRouteV2) => void): Promise<IpRouteV2[]> => {
          const routes: IpRouteV2[] = [];
          await client.dumpEach('ip_route_v2_dump', { src: sources.api, table }, ({ route }) => {
            each(route);
            if (route.paths.some(isSuspect)) routes.push(route);
          });
          return routes;
        };
        const routes = await readTable((route) => {
          for (const path of route.paths) read(route, path);
        });
        const readAgain = () => readTable(() => undefined);
        if (routes.length > 0) suspects.push({ table, routes, readAgain });
      }
      for (const route of await routesOf(client, correlate, ctx.only))
        if (route.src === sources.api) for (const path of route.paths) read(route, path);
      if (suspects.length > 0)
        for (const one of await deadPaths(client, suspects)) ctx.leftover(one);
      const interfaces = new Set(names.values());
      const known: KeyedValue<VppRoute>[] = [];
      const unknown: KeyedValue<VppRoute>[] = [];
      await mapInSlices(clock, correlate, (each) => {
        const isRequested = ctx.only?.has(each.key) ?? true;
        const { outgoing_interface: name } = each.value;
        // VPP deletes the routes of an interface with it
        if (!isRequested || found.has(each.key) || (name !== '' && !interfaces.has(name))) return;
        (ctx.isKnown(each.key) ? known : unknown).push(each);
      });
      for (const { key, value } of await refusalsBehindCnat(client, sources, unknown))
        found.set(key, value);
      for (const { key, value } of await hiddenRoutes(client, sources, known))
        found.set(key, value);
      await mapInSlices(clock, unmatched, (value) => found.set(freeKey(value, found), value));
      return [...found].map(([key, value]) => ({ key, value, origin: 'from-NB' as const }));
    },
  });
}

/** A key can have several paths in VPP; each needs its own key, so that it is deleted. */
function freeKey(value: VppRoute, taken: ReadonlyMap<string, unknown>): string {
  const key = vppRouteModel.key(value);
  if (!taken.has(key)) return key;
  const { outgoing_interface: outgoingInterface, vrf_id: vrf, dst_network: destination } = value;
  const nextHop = pathIdentity(value);
  return vppRouteKey.build({ outgoingInterface, vrf, destination, nextHop });
}

/** The entries of VPP to the destinations of the requested routes, without the rest of their tables. */
async function routesOf(
  client: VppClient,
  correlate: readonly KeyedValue<VppRoute>[],
  only: ReadonlySet<string> | undefined,
): Promise<readonly IpRouteV2[]> {
  const destinations = new Map<string, VppRoute>();
  for (const { key, value } of correlate)
    if (only?.has(key)) destinations.set(`${value.vrf_id} ${value.dst_network}`, value);
  const found = await Promise.all([...destinations.values()].map((one) => routeTo(client, one)));
  return found.filter((route) => route !== undefined);
}

/** The desired route with the weight and preference that VPP has. */
function adopt(desired: VppRoute, found: VppRoute): VppRoute {
  if (weight(desired) === found.weight && desired.preference === found.preference) return desired;
  return vppRouteModel.canonical({
    ...desired,
    weight: found.weight,
    preference: found.preference,
  });
}

/** VPP adds these to each table. It would keep a configured route behind its own and not return it. */
const vppOwnRoutes: ReadonlySet<string> = new Set(['224.0.0.0/4', '240.0.0.0/4', 'fe80::/10']);

function validate(key: string, route: VppRoute): void {
  const { dst_network, next_hop_addr } = route;
  checkField(key, dst_network !== '', 'dst_network', 'missing');
  checkField(
    key,
    !vppOwnRoutes.has(dst_network),
    'dst_network',
    'VPP has its own route to this destination',
  );
  for (const field of ['dst_network', 'next_hop_addr'] as const) {
    const allocated = route[field].startsWith('alloc:');
    checkField(key, !allocated, field, 'references to allocated addresses are not supported');
  }
  const sameFamily =
    next_hop_addr === '' || next_hop_addr.includes(':') === dst_network.includes(':');
  checkField(key, sameFamily, 'next_hop_addr', 'is not of the family of dst_network');
  checkField(key, route.weight <= 255, 'weight', 'above 255');
  checkField(key, route.preference <= 255, 'preference', 'above 255');
  const inter = leadsToTable(route);
  checkField(
    key,
    inter || route.via_vrf_id === 0,
    'via_vrf_id',
    'is only valid with types INTER_VRF and SOURCE_VRF',
  );
  const leads = next_hop_addr !== '' || route.outgoing_interface !== '';
  checkField(
    key,
    route.type !== 'UNREACHABLE' || route.vrf_id === 0,
    'vrf_id',
    'must be 0 with type UNREACHABLE: before v26.02 VPP crashes on such a route in another table',
  );
  checkField(
    key,
    route.type !== 'INTRA_VRF' || leads,
    'next_hop_addr',
    'either next_hop_addr or outgoing_interface must be set',
  );
  checkField(
    key,
    !inter || route.outgoing_interface === '',
    'outgoing_interface',
    'cannot be combined with a lookup in another table',
  );
  checkField(
    key,
    route.type !== 'SOURCE_VRF' || isAny(next_hop_addr),
    'next_hop_addr',
    'cannot be combined with type SOURCE_VRF',
  );
  // a lookup in the same table would never end
  const loops = inter && route.via_vrf_id === route.vrf_id;
  checkField(key, !loops, 'via_vrf_id', 'must differ from vrf_id');
}

function dependencies(
  route: VppRoute,
): ReturnType<NonNullable<KvDescriptor<VppRoute>['dependencies']>> {
  const protocol = route.dst_network.includes(':') ? 'IPV6' : 'IPV4';
  const name = route.outgoing_interface;
  const via = leadsToTable(route) ? route.via_vrf_id : 0;
  return [
    ...(name === '' ? [] : [{ label: 'interface-exists', key: vppInterfaceKey.build({ name }) }]),
    ...(route.vrf_id === 0
      ? []
      : [{ label: 'vrf-table-exists', key: vrfTableKey.build({ id: route.vrf_id, protocol }) }]),
    ...(via === 0
      ? []
      : [{ label: 'via-vrf-table-exists', key: vrfTableKey.build({ id: via, protocol }) }]),
  ];
}
