/** Routes over a NIC with everything that restores them: `struct rtmsg` and its attributes. */
import {
  addressBytes,
  addressText,
  families,
  familyOf,
  isV6,
  networkOf,
} from '#linux/netlink/addresses.ts';
import {
  type Attributes,
  aligned,
  attribute,
  attributesOf,
  malformed,
  numberAttribute,
  numberOf,
  zeros,
} from '#linux/netlink/attributes.ts';
import { flags, type Message, type Request } from '#linux/netlink/messages.ts';
import { routeTypes } from '#linux/netlink/routes.ts';
import type { NicNextHop, NicRoute } from './nic-record.ts';

const FIXED_LENGTH = 12;
/** `struct rtnexthop` */
const HOP_LENGTH = 8;
const LOCAL_TABLE = 255;
const KERNEL_PROTOCOL = 2;
/** An entry of the cache of IPv6. */
const CLONED = 0x200;
/** `pervasive`, `onlink`; the others are states. */
const USER_FLAGS = 0x2 | 0x4;
/** Of the times that the kernel reports. */
const TICKS_PER_SECOND = 100;
/** NLM_F_APPEND: next to another route of the same destination and metric. */
const APPEND = 0x800;

const at = {
  destination: 1,
  source: 2,
  device: 4,
  gateway: 5,
  metric: 6,
  preferredSource: 7,
  metrics: 8,
  multipath: 9,
  realms: 11,
  cacheInfo: 12,
  table: 15,
  via: 18,
  preference: 20,
  encapsulationType: 21,
  encapsulation: 22,
  expires: 23,
} as const;

type Kind = 'address' | 'number' | 'hex';

const hopKinds = {
  gateway: 'address',
  via: 'hex',
  encapsulationType: 'hex',
  encapsulation: 'hex',
  realms: 'number',
} as const satisfies Partial<Record<keyof typeof at, Kind>>;

const routeKinds = {
  ...hopKinds,
  preferredSource: 'address',
  metric: 'number',
  metrics: 'hex',
  preference: 'hex',
} as const satisfies Partial<Record<keyof typeof at, Kind>>;

type Fields = Readonly<Record<string, unknown>>;
type Kinds = Readonly<Partial<Record<keyof typeof at, Kind>>>;

function decodeFields(attributes: Attributes, kinds: Kinds): Fields {
  const fields: Record<string, string | number> = {};
  for (const [name, kind] of Object.entries(kinds) as [keyof typeof at, Kind][]) {
    const bytes = attributes.get(at[name]);
    if (bytes === undefined) continue;
    if (kind === 'number') fields[name] = numberOf(attributes, at[name])!;
    else fields[name] = kind === 'address' ? addressText(bytes) : bytes.toString('hex');
  }
  return fields;
}

function encodeFields(fields: Fields, kinds: Kinds): Buffer[] {
  return (Object.entries(kinds) as [keyof typeof at, Kind][]).flatMap(([name, kind]) => {
    const value = fields[name];
    if (typeof value === 'number') return [numberAttribute(at[name], value)];
    if (typeof value !== 'string') return [];
    return [
      attribute(at[name], kind === 'address' ? addressBytes(value) : Buffer.from(value, 'hex')),
    ];
  });
}

export function dumpRoutes(family: number): Request {
  const fixed = zeros(FIXED_LENGTH);
  fixed[0] = family;
  return { type: routeTypes.get, flags: flags.request | flags.root | flags.match, body: fixed };
}

/**
 * @param nameOf the name of a link
 * @returns undefined for a route that does not use the link, or that the kernel makes by itself for
 * local addresses
 */
export function decodeRoute(
  { body }: Message,
  index: number,
  nameOf: (index: number) => string | undefined,
): NicRoute | undefined {
  if (body.length < FIXED_LENGTH) throw malformed('truncated route');
  const bits = body.readUInt32LE(8);
  if ((bits & CLONED) !== 0) return undefined;
  const attributes = attributesOf(body.subarray(FIXED_LENGTH));
  const [family, length, sourceLength, tos, shortTable, protocol, scope, type] = body;
  const table = numberOf(attributes, at.table) ?? shortTable!;
  if (table === LOCAL_TABLE && protocol === KERNEL_PROTOCOL) return undefined;
  const multipath = attributes.get(at.multipath);
  const nextHops = multipath && hopsOf(multipath);
  const isUsed = nextHops
    ? nextHops.some((hop) => hop.index === index)
    : numberOf(attributes, at.device) === index;
  if (!isUsed) return undefined;
  const unspecified = zeros(family === families.ipv6 ? 16 : 4);
  const network = (number: number): string => addressText(attributes.get(number) ?? unspecified);
  const expires = expiryOf(attributes.get(at.cacheInfo));
  return {
    ...decodeFields(attributes, routeKinds),
    destination: `${network(at.destination)}/${length}`,
    ...(sourceLength! > 0 && { source: `${network(at.source)}/${sourceLength}` }),
    tos: tos!,
    table,
    protocol: protocol!,
    scope: scope!,
    type: type!,
    flags: bits & USER_FLAGS,
    ...(expires !== undefined && { expires }),
    ...(nextHops && {
      nextHops: nextHops.map(({ index: device, hop }) => ({
        ...hop,
        device: nameOf(device) ?? String(device),
      })),
    }),
  };
}

interface Hop {
  readonly index: number;
  readonly hop: Omit<NicNextHop, 'device'>;
}

function hopsOf(bytes: Buffer): readonly Hop[] {
  const found: Hop[] = [];
  for (let start = 0; start < bytes.length; ) {
    if (bytes.length - start < HOP_LENGTH) throw malformed('truncated next hop');
    const length = bytes.readUInt16LE(start);
    if (length < HOP_LENGTH || start + length > bytes.length)
      throw malformed(`next hop of ${length} bytes`);
    const attributes = attributesOf(bytes.subarray(start + HOP_LENGTH, start + length));
    found.push({
      index: bytes.readInt32LE(start + 4),
      hop: {
        ...decodeFields(attributes, hopKinds),
        flags: bytes[start + 2]! & USER_FLAGS,
        weight: bytes[start + 3]!,
      },
    });
    start += aligned(length);
  }
  return found;
}

/** Seconds; undefined: never. */
function expiryOf(bytes: Buffer | undefined): number | undefined {
  if (bytes === undefined || bytes.length < 12) return undefined;
  const ticks = bytes.readInt32LE(8);
  return ticks === 0 ? undefined : Math.max(1, Math.round(ticks / TICKS_PER_SECOND));
}

/**
 * A route over several devices replaces what the kernel kept of it; all others are added beside those
 * that exist.
 * @param indexOf the index of a link
 */
export function addRoute(
  index: number,
  route: NicRoute,
  indexOf: (name: string) => number,
): Request {
  const { destination, source, table, nextHops, expires } = route;
  const { bytes, length } = networkOf(destination);
  const from = source === undefined ? undefined : networkOf(source);
  const fixed = zeros(FIXED_LENGTH);
  fixed[0] = familyOf(destination);
  fixed[1] = length;
  fixed[2] = from?.length ?? 0;
  fixed[3] = route.tos;
  fixed[4] = table < 256 ? table : 0;
  fixed[5] = route.protocol;
  fixed[6] = route.scope;
  fixed[7] = route.type;
  fixed.writeUInt32LE(route.flags, 8);
  const beside = nextHops ? flags.replace : isV6(destination) ? 0 : APPEND;
  return {
    type: routeTypes.new,
    flags: flags.request | flags.ack | flags.create | beside,
    body: Buffer.concat([
      fixed,
      ...(length === 0 ? [] : [attribute(at.destination, bytes)]),
      ...(from ? [attribute(at.source, from.bytes)] : []),
      numberAttribute(at.table, table),
      ...encodeFields(route, routeKinds),
      ...(expires === undefined ? [] : [numberAttribute(at.expires, expires)]),
      nextHops
        ? attribute(at.multipath, ...nextHops.map((hop) => encodeHop(hop, indexOf(hop.device))))
        : numberAttribute(at.device, index),
    ]),
  };
}

function encodeHop(hop: NicNextHop, index: number): Buffer {
  const attributes = Buffer.concat(encodeFields(hop, hopKinds));
  const fixed = zeros(HOP_LENGTH);
  fixed.writeUInt16LE(HOP_LENGTH + attributes.length, 0);
  fixed[2] = hop.flags;
  fixed[3] = hop.weight;
  fixed.writeInt32LE(index, 4);
  return Buffer.concat([fixed, attributes]);
}
