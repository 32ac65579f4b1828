import { type Cidr, formatCidr, network } from '#models/ip.ts';
import { textOfBytes } from '#vpp/binapi/addresses.ts';
import type { FibPath, IpRoute, IpRouteV2, Prefix } from '#vpp/binapi/messages.gen.ts';
import {
  bestSource,
  type Family,
  type Fib,
  type FibEntry,
  type FibTable,
  fibSources,
  type Path,
  pathOf,
  pathType,
  source,
} from './fib.ts';
import type { Interfaces } from './interfaces.ts';
import type { MessageHandlers } from './message-handlers.ts';
import { NONE, retval } from './retval.ts';

const proto = { ip4: 0, ip6: 1 };
const types = { bierImposition: 4, interfaceRx: 9, sourceLookup: 7, dvr: 8, classify: 10 };
const LAST_PROTO = 4;
const noLabels = Array.from({ length: 16 }, () => ({ is_uniform: 0, label: 0, ttl: 0, exp: 0 }));

export function familyOf(prefix: Prefix): Family {
  return prefix.address.af === 1 ? 6 : 4;
}

export function cidrOf(prefix: Prefix): Cidr {
  const { un } = prefix.address;
  return { address: familyOf(prefix) === 6 ? un : un.subarray(0, 4), length: prefix.len };
}

function prefixOf({ address, length }: Cidr): Prefix {
  const un = new Uint8Array(16);
  un.set(address);
  return { address: { af: address.length === 16 ? 1 : 0, un }, len: length };
}

export function encodePath(path: Path): FibPath {
  return {
    sw_if_index: path.sw_if_index,
    table_id: path.table_id,
    rpf_id: 0,
    weight: path.weight,
    preference: path.preference,
    type: path.type,
    flags: path.flags,
    proto: path.proto,
    nh: { address: path.nextHop, via_label: 0, obj_id: 0, classify_table_index: 0 },
    n_labels: 0,
    label_stack: noLabels,
  };
}

export interface RouteDependencies {
  readonly fib: Fib;
  readonly interfaces: Interfaces;
  /** Some messages crash VPP. */
  readonly crash: (why: string) => void;
}

/** The decoded path, or the retval with which VPP rejects it. */
export function decodePath(
  { fib, interfaces, crash }: RouteDependencies,
  path: FibPath,
): Path | number {
  if (path.proto > LAST_PROTO) return retval.UNSPECIFIED;
  const family: Family = path.proto === proto.ip6 ? 6 : 4;
  const common = pathOf(family, {
    weight: path.weight || 1,
    preference: path.preference,
    type: path.type,
    flags: path.flags,
    proto: path.proto,
  });
  switch (path.type) {
    case types.bierImposition:
      crash('a path of type BIER_IMP without BIER');
      return retval.UNSPECIFIED;
    case types.classify:
      return retval.NO_SUCH_TABLE;
    case pathType.local:
    case types.interfaceRx:
    case types.dvr:
      return { ...common, sw_if_index: path.sw_if_index };
    case pathType.normal:
    case types.sourceLookup:
      break;
    default:
      return common;
  }
  if (path.proto !== proto.ip4 && path.proto !== proto.ip6) return common;
  const nextHop = new Uint8Array(16);
  nextHop.set(family === 6 ? path.nh.address : path.nh.address.subarray(0, 4));
  if (path.sw_if_index !== NONE) {
    if (!interfaces.get(path.sw_if_index)) return retval.NO_MATCHING_INTERFACE;
    return { ...common, type: pathType.normal, sw_if_index: path.sw_if_index, nextHop };
  }
  const via = fib.find(family, path.table_id);
  if (!via) return retval.NO_SUCH_FIB;
  return { ...common, type: pathType.normal, table_id: via.id, nextHop, via };
}

/** The path as VPP stores it for this prefix. */
function normalizedPath(path: Path, prefix: Cidr): Path {
  const own = new Uint8Array(16);
  own.set(prefix.address);
  const hasHop = path.nextHop.some((byte) => byte !== 0);
  const isDirect = path.sw_if_index !== NONE;
  if (hasHop && !isDirect && Buffer.compare(path.nextHop, own) === 0)
    return {
      ...path,
      type: pathType.drop,
      table_id: 0,
      nextHop: new Uint8Array(16),
      via: undefined,
    };
  const isHost = prefix.length === prefix.address.length * 8;
  if (path.type !== pathType.local && isHost && !hasHop && isDirect)
    return { ...path, nextHop: own };
  return path;
}

/** Adds and deletes routes over the API; dumps routes of all sources. */
export function routeMessages(deps: RouteDependencies): MessageHandlers {
  const { fib, interfaces } = deps;
  interfaces.onRemove(({ index }) => fib.removeInterface(index));

  const change = (
    isAdd: boolean,
    isMultipath: boolean,
    route: Pick<IpRoute, 'table_id' | 'prefix' | 'paths'>,
    from: number,
  ): number | { stats_index: number } => {
    const family = familyOf(route.prefix);
    const table = fib.find(family, route.table_id);
    if (!table) return retval.NO_SUCH_FIB;
    const prefix = cidrOf(route.prefix);
    const paths: Path[] = [];
    for (const path of route.paths) {
      const decoded = decodePath(deps, path);
      if (typeof decoded === 'number') return decoded;
      paths.push(normalizedPath(decoded, prefix));
    }
    if (prefix.length > (family === 4 ? 32 : 128)) return retval.INVALID_PREFIX_LENGTH;
    if (paths.length === 0 && (isMultipath || isAdd)) return retval.NO_PATHS_IN_ROUTE;
    const entry = apply(table, prefix, from, paths, isAdd, isMultipath);
    return { stats_index: isAdd ? (entry?.statsIndex ?? NONE) : NONE };
  };

  const apply = (
    table: FibTable,
    prefix: Cidr,
    from: number,
    paths: readonly Path[],
    isAdd: boolean,
    isMultipath: boolean,
  ): FibEntry | undefined => {
    if (isMultipath && isAdd) return fib.addPaths(table, prefix, from, paths);
    if (isMultipath) {
      fib.removePaths(table, prefix, from, paths);
      return undefined;
    }
    return fib.set(table, prefix, from, isAdd ? paths : []);
  };

  const described = (table: FibTable, entry: FibEntry): IpRouteV2 => {
    const from = bestSource(entry);
    return {
      table_id: table.id,
      stats_index: entry.statsIndex,
      prefix: prefixOf(entry.prefix),
      src: from,
      paths: (entry.sources.get(from) ?? []).map(encodePath),
    };
  };

  /** The entry of the prefix, or the one with the longest prefix that contains it. */
  const lookUp = (table: FibTable, prefix: Cidr, isExact: boolean): FibEntry | undefined => {
    if (isExact) return fib.get(table, prefix);
    for (let { length } = prefix; length >= 0; length--) {
      const found = fib.get(table, { ...prefix, length });
      if (found) return found;
    }
    return undefined;
  };

  /** In VPP's order: shorter prefixes first. */
  const dumpTable = (id: number, isIp6: boolean, from: number): readonly IpRouteV2[] => {
    const table = fib.find(isIp6 ? 6 : 4, id);
    if (!table) return [];
    return [...table.entries.values()]
      .filter((entry) => from === 0 || bestSource(entry) === from)
      .sort((a, b) => a.prefix.length - b.prefix.length)
      .map((entry) => described(table, entry));
  };

  const textOf = (table: FibTable, entry: FibEntry, path: Path): string => {
    const words = [`vrf ${table.id}`, formatCidr(network(entry.prefix))];
    if (path.type === pathType.drop) words.push('drop');
    else if (path.type !== pathType.normal) words.push(`type ${path.type}`);
    const hop = path.proto === proto.ip6 ? path.nextHop : path.nextHop.subarray(0, 4);
    if (hop.some((byte) => byte !== 0)) words.push(`via ${textOfBytes(hop)}`);
    if (path.sw_if_index !== NONE) words.push(`dev ${interfaces.nameOf(path.sw_if_index)}`);
    if (path.isDead) words.push('unresolved');
    if (path.via) words.push(`in vrf ${path.via.id}`);
    if (path.weight !== 1) words.push(`weight ${path.weight}`);
    if (path.preference !== 0) words.push(`preference ${path.preference}`);
    return words.join(' ');
  };

  return {
    requests: {
      ip_route_add_del: ({ is_add, is_multipath, route }) =>
        change(is_add, is_multipath, route, source.api),
      ip_route_add_del_v2: ({ is_add, is_multipath, route }) =>
        change(is_add, is_multipath, route, route.src || source.api),
      ip_route_lookup_v2: ({ table_id, exact, prefix }) => {
        const table = fib.find(familyOf(prefix), table_id);
        if (!table) return retval.NO_SUCH_FIB;
        const entry = lookUp(table, cidrOf(prefix), exact !== 0);
        return entry ? { route: described(table, entry) } : retval.NO_SUCH_ENTRY;
      },
    },
    dumps: {
      ip_route_v2_dump: ({ table, src }) =>
        dumpTable(table.table_id, table.is_ip6, src).map((route) => ({ route })),
      fib_source_dump: () =>
        fibSources.map(([name, priority], id) => ({ src: { id, name, priority } })),
    },
    snapshot: () => ({
      routes: fib.tables
        .flatMap((table) =>
          [...table.entries.values()].flatMap((entry) =>
            (entry.sources.get(source.api) ?? []).map((path) => textOf(table, entry, path)),
          ),
        )
        .sort(),
    }),
  };
}
