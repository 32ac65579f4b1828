/** Reads the state that decides about packets from VPP and the kernel, managed or not. */
import type { Scheduler } from '#kvscheduler/scheduler.ts';
import { type LinuxHost, NamespaceNotFoundError, type NamespacePath } from '#linux/api.ts';
import type { Acl } from '#models/vpp/acl.ts';
import type {
  ActualDevice,
  ActualInterface,
  ActualNamespace,
  ActualRoute,
  ActualState,
} from '#packet-trace/actual-state.ts';
import { type CnatConfig, cnatOf } from '#packet-trace/cnat.ts';
import type { RouteAction } from '#packet-trace/snapshot.ts';
import type {
  LinuxInterfaceMetadata,
  VppInterfaceMetadata,
} from '#plugins/controller/api/ports/metadata.ts';
import { fromAddress, fromMac, fromPrefix, fromUnion } from '#vpp/binapi/addresses.ts';
import type { VppClient } from '#vpp/binapi/api.ts';
import { AddressFamily, FibPathType, IfStatusFlags } from '#vpp/binapi/enums.gen.ts';
import type { FibPath, IpRouteV2, SwInterfaceDetails } from '#vpp/binapi/messages.gen.ts';
import { readSourceNat } from '#vpp/descriptors/cnat/source-nat-policy.ts';
import { dumpTranslations, fromTranslation } from '#vpp/descriptors/cnat/translation-message.ts';
import { tagToName } from '#vpp/descriptors/tags.ts';
import { readAcls } from './actual-acls.ts';
import { readNat } from './actual-nat.ts';

const NONE = 0xffff_ffff;
/** Of entries by which VPP follows a next hop: they mirror the entries that cover it. */
const INTERNAL_SOURCE = 'recursive-resolution';

export interface ActualStateDeps {
  readonly client: VppClient;
  readonly linux: LinuxHost;
  readonly scheduler: Scheduler;
}

export async function readActualState(deps: ActualStateDeps): Promise<ActualState> {
  const [vpp, namespaces] = await Promise.all([readVpp(deps), readNamespaces(deps)]);
  return { vpp, namespaces };
}

async function readVpp({ client, scheduler }: ActualStateDeps): Promise<ActualDevice> {
  const [details, tables, lent, sources] = await Promise.all([
    client.dump('sw_interface_dump', {
      sw_if_index: NONE,
      name_filter_valid: false,
      name_filter: '',
    }),
    client.dump('ip_table_dump', {}),
    client.dump('ip_unnumbered_dump', { sw_if_index: NONE }),
    client.dump('fib_source_dump', {}),
  ]);
  const known = scheduler.metadataMap<VppInterfaceMetadata>('vpp-interface');
  const nameBehind = tagToName(known?.listAllNames() ?? []);
  const nameOfUntagged = new Map(
    known?.listAllNames().map((name) => [known.getValue(name)?.swIfIndex, name]),
  );
  const nameOf = ({ tag, interface_name, sw_if_index }: SwInterfaceDetails): string =>
    tag === '' ? (nameOfUntagged.get(sw_if_index) ?? interface_name) : nameBehind(tag);
  const names = new Map(details.map((one) => [one.sw_if_index, nameOf(one)]));
  const interfaces = await Promise.all(
    details.map((one) => readInterface(client, one, nameOf(one))),
  );
  // VPP forwards packets of an interface that borrows from a deleted one, too
  const borrowers = new Set(lent.map((one) => one.sw_if_index));
  const neighbors = await Promise.all(
    [AddressFamily.ADDRESS_IP4, AddressFamily.ADDRESS_IP6].map((af) =>
      client.dump('ip_neighbor_dump', { sw_if_index: NONE, af }),
    ),
  );
  const nameOfIndex = (index: number): string => names.get(index) ?? `deleted ${index}`;
  const nat = await readNat(client, scheduler, nameOfIndex);
  const cnat = await readCnat(client, names);
  const acls = await readAcls(client, await configuredAcls(scheduler), nameOfIndex);
  const internal = sources.find(({ src }) => src.name === INTERNAL_SOURCE)?.src.id;
  const routes: ActualRoute[] = [];
  // one table after another, so that VPP forwards packets in between
  for (const { table } of tables)
    for (const { route } of await client.dump('ip_route_v2_dump', { src: 0, table }))
      if (route.src !== internal) routes.push(...routesOf(route, names));
  return {
    ...(nat && { nat }),
    ...(cnat && { cnat }),
    ...(acls && { acls }),
    interfaces: interfaces.map((one, index) => ({
      ...one,
      isRouted: one.isRouted || borrowers.has(details[index]?.sw_if_index ?? NONE),
    })),
    routes,
    neighbors: neighbors.flat().map(({ neighbor }) => ({
      interface: names.get(neighbor.sw_if_index) ?? '',
      address: fromAddress(neighbor.ip_address),
      mac: fromMac(neighbor.mac_address),
    })),
  };
}

async function readCnat(
  client: VppClient,
  names: ReadonlyMap<number, string>,
): Promise<CnatConfig | undefined> {
  const found = await dumpTranslations(client);
  const translations = found.flatMap((one) => fromTranslation(one) ?? []);
  // without a translation no reply would be found
  if (translations.length === 0) return undefined;
  return cnatOf(translations, await readSourceNat(client, names));
}

async function configuredAcls(scheduler: Scheduler): Promise<ReadonlySet<string>> {
  const values = await scheduler.dump('NB', { descriptor: 'vpp-acl' });
  return new Set(values.map(({ Value }) => (Value.value as Acl).name));
}

async function readInterface(
  client: VppClient,
  details: SwInterfaceDetails,
  name: string,
): Promise<ActualInterface> {
  const { sw_if_index, flags, l2_address, interface_dev_type } = details;
  const [table, table6, ...addresses] = await Promise.all([
    client.request('sw_interface_get_table', { sw_if_index, is_ipv6: false }),
    client.request('sw_interface_get_table', { sw_if_index, is_ipv6: true }),
    client.dump('ip_address_dump', { sw_if_index, is_ipv6: false }),
    client.dump('ip_address_dump', { sw_if_index, is_ipv6: true }),
  ]);
  const enabled = (flags & IfStatusFlags.IF_STATUS_API_FLAG_ADMIN_UP) !== 0;
  return {
    name,
    enabled,
    up: enabled && (flags & IfStatusFlags.IF_STATUS_API_FLAG_LINK_UP) !== 0,
    table: table.vrf_id,
    table6: table6.vrf_id,
    mac: fromMac(l2_address),
    addresses: addresses.flat().map(({ prefix }) => fromPrefix(prefix)),
    isRouted: addresses.flat().length > 0,
    isLoopback: interface_dev_type === 'Loopback',
  };
}

/** VPP finds the addresses of its interfaces by their own entries, the trace by the interfaces. */
function routesOf(
  { table_id: table, prefix, paths }: IpRouteV2,
  names: ReadonlyMap<number, string>,
): readonly ActualRoute[] {
  const destination = fromPrefix(prefix);
  return paths.flatMap((path) => {
    const action = actionOf(path, prefix.address.af, names);
    return action ? [{ table, destination, preference: path.preference, action }] : [];
  });
}

/** @returns undefined for addresses of VPP itself, and for kinds of paths that are not traced */
function actionOf(
  path: FibPath,
  family: number,
  names: ReadonlyMap<number, string>,
): RouteAction | undefined {
  switch (path.type) {
    case FibPathType.FIB_API_PATH_TYPE_DROP:
      return { kind: 'drop' };
    case FibPathType.FIB_API_PATH_TYPE_ICMP_UNREACH:
    case FibPathType.FIB_API_PATH_TYPE_ICMP_PROHIBIT:
      return { kind: 'refuse' };
    case FibPathType.FIB_API_PATH_TYPE_NORMAL:
      break;
    default:
      return undefined;
  }
  const hop = fromUnion(family, path.nh.address);
  const nextHop = /^[0.:]+$/.test(hop) ? undefined : hop;
  const { sw_if_index, table_id: table } = path;
  // VPP keeps the paths through an interface that was deleted
  if (sw_if_index !== NONE)
    return { kind: 'via', interface: names.get(sw_if_index) ?? `deleted ${sw_if_index}`, nextHop };
  return nextHop === undefined ? { kind: 'table', table } : { kind: 'recursive', nextHop, table };
}

async function readNamespaces({
  linux,
  scheduler,
}: ActualStateDeps): Promise<readonly ActualNamespace[]> {
  const known = scheduler.metadataMap<LinuxInterfaceMetadata>('linux-interface');
  const names = new Map<NamespacePath, Map<string, string>>([[undefined, new Map()]]);
  for (const name of known?.listAllNames() ?? []) {
    const metadata = known?.getValue(name);
    if (metadata === undefined) continue;
    const links = names.get(metadata.namespace) ?? new Map<string, string>();
    names.set(metadata.namespace, links.set(metadata.hostIfName, name));
  }
  const read = await Promise.all(
    [...names].map(([path, links]) => readNamespace(linux, path, links)),
  );
  return read.filter((one) => one !== undefined);
}

async function readNamespace(
  linux: LinuxHost,
  path: NamespacePath,
  names: ReadonlyMap<string, string>,
): Promise<ActualNamespace | undefined> {
  try {
    const { links, routes, neighbors, rejecting = [] } = await linux.dump(path);
    const nameOf = (link: string): string => names.get(link) ?? link;
    return {
      path: path ?? '',
      interfaces: links.map((link) => ({
        name: nameOf(link.name),
        enabled: link.up,
        up: link.up && link.running,
        table: 0,
        mac: link.mac ?? '',
        addresses: link.addresses,
        isRouted: true,
        isLoopback: link.kind === 'loopback',
      })),
      // the kernel checks learned neighbors again before it relies on them
      neighbors: neighbors
        .filter(({ permanent }) => permanent)
        .map(({ device, address, mac }) => ({ interface: nameOf(device), address, mac })),
      routes: [
        ...routes.map(({ destination, metric, device, gateway }) => ({
          table: 0,
          destination,
          preference: metric,
          action: { kind: 'via', interface: nameOf(device), nextHop: gateway } as const,
        })),
        ...rejecting.map(({ destination, metric }) => ({
          table: 0,
          destination,
          preference: metric,
          action: { kind: 'drop' } as const,
        })),
      ],
    };
  } catch (thrown) {
    if (thrown instanceof NamespaceNotFoundError) return undefined;
    throw thrown;
  }
}
