/** Parses the output of `ip -json -N -details` and rejects any other format. */
import type {
  LinuxLink,
  LinuxNeighbor,
  LinuxRoute,
  NamespaceState,
  RejectingRoute,
  RouteScope,
} from '#linux/api.ts';
import { LinuxError } from '#linux/api.ts';
import { isV6 } from '#linux/netlink/addresses.ts';

const MAIN_TABLE = 254;
const UNICAST = 1;
const scopes: Readonly<Record<number, RouteScope>> = {
  0: 'global',
  200: 'site',
  253: 'link',
  254: 'host',
};

type Fields = Readonly<Record<string, unknown>>;

function fail(what: string, value: unknown): never {
  throw new LinuxError(`unexpected output of ip: ${what} is ${JSON.stringify(value)}`, {
    where: 'dump',
  });
}

function list(value: unknown, what: string): readonly Fields[] {
  if (!Array.isArray(value)) fail(what, value);
  for (const item of value)
    if (typeof item !== 'object' || item === null || Array.isArray(item)) fail(what, item);
  return value;
}

function text(fields: Fields, name: string): string {
  const value = fields[name];
  return typeof value === 'string' ? value : fail(name, value);
}

function optionalText(fields: Fields, name: string): string | undefined {
  return fields[name] === undefined ? undefined : text(fields, name);
}

/** With -N some releases print numbers as text. */
function number(fields: Fields, name: string, otherwise?: number): number {
  const value = fields[name] ?? otherwise;
  const read = typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : value;
  return typeof read === 'number' ? read : fail(name, value);
}

function words(fields: Fields, name: string): readonly string[] {
  const value = fields[name];
  if (!Array.isArray(value) || value.some((word) => typeof word !== 'string')) fail(name, value);
  return value;
}

function isLinkLocal(address: string): boolean {
  return /^fe[89ab][0-9a-f]:/i.test(address);
}

/** ARPHRD numbers, as different releases of `ip` print them. */
const linkTypes: Readonly<Record<string, string>> = {
  '[772]': 'loopback',
  '772': 'loopback',
  '[1]': 'ether',
  '1': 'ether',
};

function link(fields: Fields, indexes: ReadonlyMap<string, number>): LinuxLink {
  const flags = words(fields, 'flags');
  const info = fields['linkinfo'];
  const type = text(fields, 'link_type');
  const peer = optionalText(fields, 'link');
  const kind =
    typeof info === 'object' && info !== null && 'info_kind' in info
      ? text(info as Fields, 'info_kind')
      : (linkTypes[type] ?? type);
  const peerIndex = peer === undefined ? fields['link_index'] : indexes.get(peer);
  return {
    index: number(fields, 'ifindex'),
    name: text(fields, 'ifname'),
    kind,
    up: flags.includes('UP'),
    running: flags.includes('LOWER_UP'),
    mtu: number(fields, 'mtu'),
    mac: optionalText(fields, 'address'),
    alias: optionalText(fields, 'ifalias'),
    peerIndex: kind === 'veth' && typeof peerIndex === 'number' ? peerIndex : undefined,
    addresses: list(fields['addr_info'] ?? [], 'addr_info')
      .filter((info) => !isLinkLocal(text(info, 'local')))
      .map((info) => `${text(info, 'local')}/${number(info, 'prefixlen')}`)
      .sort(),
  };
}

function destination(fields: Fields, gateway: string | undefined): string {
  const dst = text(fields, 'dst');
  // only the default route has no address to derive the family from: IPv6 has a preference
  const v6 = isV6(dst) || (gateway !== undefined && isV6(gateway)) || 'pref' in fields;
  if (dst === 'default') return v6 ? '::/0' : '0.0.0.0/0';
  return dst.includes('/') ? dst : `${dst}/${v6 ? 128 : 32}`;
}

function route(fields: Fields): LinuxRoute | undefined {
  const device = optionalText(fields, 'dev');
  if (number(fields, 'table', MAIN_TABLE) !== MAIN_TABLE || device === undefined) return undefined;
  if (number(fields, 'type', UNICAST) !== UNICAST) return undefined;
  // a gateway of the other family is in `via`; such routes are never managed
  if ('via' in fields) return undefined;
  const gateway = optionalText(fields, 'gateway');
  const to = destination(fields, gateway);
  if (isLinkLocal(to)) return undefined;
  const scope = number(fields, 'scope', 0);
  return {
    destination: to,
    ...(gateway !== undefined && { gateway }),
    device,
    scope: scopes[scope] ?? fail('scope', scope),
    metric: number(fields, 'metric', 0),
    protocol: number(fields, 'protocol'),
  };
}

/** Numbers of `rtm_type`. */
const rejectingTypes: readonly number[] = [6, 7, 8];

function rejectingRoute(fields: Fields): RejectingRoute | undefined {
  if (number(fields, 'table', MAIN_TABLE) !== MAIN_TABLE) return undefined;
  if (!rejectingTypes.includes(number(fields, 'type', UNICAST))) return undefined;
  return { destination: destination(fields, undefined), metric: number(fields, 'metric', 0) };
}

function neighbor(fields: Fields): LinuxNeighbor | undefined {
  const mac = optionalText(fields, 'lladdr');
  if (mac === undefined) return undefined;
  return {
    address: text(fields, 'dst'),
    mac,
    device: text(fields, 'dev'),
    permanent: words(fields, 'state').includes('PERMANENT'),
  };
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** @param output three JSON lists, one per line: addresses, routes, neighbors */
export function parseDump(output: string): NamespaceState {
  const lines = output.split('\n').filter((line) => line !== '');
  const [addresses, routes, neighbors] = lines.map((line): unknown => {
    try {
      return JSON.parse(line);
    } catch (cause) {
      throw new LinuxError('the output of ip is not JSON', { where: 'dump', cause });
    }
  });
  // `ip` prints an empty object for every link that it omits
  const named = list(addresses, 'links').filter((fields) => 'ifname' in fields);
  const indexes = new Map(named.map((f) => [text(f, 'ifname'), number(f, 'ifindex')]));
  const rejecting = list(routes, 'routes').flatMap((fields) => rejectingRoute(fields) ?? []);
  return {
    ...(rejecting.length > 0 && { rejecting }),
    links: named.map((fields) => link(fields, indexes)).sort((a, b) => a.index - b.index),
    routes: list(routes, 'routes')
      .flatMap((fields) => route(fields) ?? [])
      .sort(
        (a, b) =>
          compare(a.destination, b.destination) ||
          a.metric - b.metric ||
          compare(a.device, b.device),
      ),
    neighbors: list(neighbors, 'neighbors')
      .flatMap((fields) => neighbor(fields) ?? [])
      .sort((a, b) => compare(a.device, b.device) || compare(a.address, b.address)),
  };
}
