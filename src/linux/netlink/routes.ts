/** Messages about routes: `struct rtmsg` and its attributes. */
import type { LinuxRoute, RouteScope } from '../api.ts';
import { AGENT_ROUTE_PROTOCOL } from '../api.ts';
import { addressBytes, addressText, families, familyOf, isV6, networkOf } from './addresses.ts';
import {
  attribute,
  attributesOf,
  malformed,
  numberAttribute,
  numberOf,
  zeros,
} from './attributes.ts';
import { flags, type Message, type Request } from './messages.ts';

export const routeTypes = { new: 24, delete: 25, get: 26 } as const;

const FIXED_LENGTH = 12;
const MAIN_TABLE = 254;
const UNICAST = 1;
/** `rtm_type` of blackhole, unreachable, prohibit. */
const rejectingTypes: readonly (number | undefined)[] = [6, 7, 8];
/** An entry of the cache of IPv6. */
const CLONED = 0x200;

const at = { destination: 1, device: 4, gateway: 5, priority: 6, table: 15, via: 18 } as const;

const scopeNumbers: Readonly<Record<RouteScope, number>> = {
  global: 0,
  site: 200,
  link: 253,
  host: 254,
};
const scopeNames = new Map(
  Object.entries(scopeNumbers).map(([name, number]) => [number, name as RouteScope]),
);

export type RouteVerb = 'add' | 'replace' | 'delete';

const verbFlags: Readonly<Record<RouteVerb, number>> = {
  add: flags.create | flags.exclusive,
  replace: flags.create | flags.replace,
  delete: 0,
};

/** A deletion matches routes of the agent only. @param index of the device */
export function changeRoute(
  verb: RouteVerb,
  index: number,
  { destination, gateway, scope, metric }: Omit<LinuxRoute, 'protocol' | 'device'>,
): Request {
  const { bytes, length } = networkOf(destination);
  const fixed = zeros(FIXED_LENGTH);
  fixed[0] = familyOf(destination);
  fixed[1] = length;
  fixed[4] = MAIN_TABLE;
  fixed[5] = AGENT_ROUTE_PROTOCOL;
  fixed[6] = isV6(destination) ? 0 : scopeNumbers[scope];
  fixed[7] = verb === 'delete' ? 0 : UNICAST;
  const parts = [
    fixed,
    attribute(at.destination, bytes),
    ...(gateway === undefined ? [] : [attribute(at.gateway, addressBytes(gateway))]),
    numberAttribute(at.device, index),
    ...(metric === 0 ? [] : [numberAttribute(at.priority, metric)]),
  ];
  return {
    type: verb === 'delete' ? routeTypes.delete : routeTypes.new,
    flags: flags.request | flags.ack | verbFlags[verb],
    body: Buffer.concat(parts),
  };
}

export function dumpRoutes(family: number): Request {
  const fixed = zeros(FIXED_LENGTH);
  fixed[0] = family;
  return {
    type: routeTypes.get,
    flags: flags.request | flags.root | flags.match,
    body: fixed,
  };
}

/** A route of the main table. */
export interface FoundRoute {
  readonly destination: string;
  readonly metric: number;
  /** Undefined: it rejects packets. */
  readonly forward:
    | {
        readonly index: number;
        readonly gateway: string | undefined;
        readonly scope: RouteScope;
        readonly protocol: number;
      }
    | undefined;
}

/**
 * @returns undefined for routes that are never managed: of other tables and types, with several devices,
 * with a gateway of the other family or an unknown scope
 */
export function decodeRoute({ body }: Message): FoundRoute | undefined {
  if (body.length < FIXED_LENGTH) throw malformed('truncated route');
  if ((body.readUInt32LE(8) & CLONED) !== 0) return undefined;
  const attributes = attributesOf(body.subarray(FIXED_LENGTH));
  if ((numberOf(attributes, at.table) ?? body[4]) !== MAIN_TABLE) return undefined;
  const [family, length, , , , protocol = 0, scopeNumber = 0, type] = body;
  const to = attributes.get(at.destination) ?? zeros(family === families.ipv6 ? 16 : 4);
  const destination = `${addressText(to)}/${length}`;
  const metric = numberOf(attributes, at.priority) ?? 0;
  if (rejectingTypes.includes(type)) return { destination, metric, forward: undefined };
  const index = numberOf(attributes, at.device);
  const scope = scopeNames.get(scopeNumber);
  if (type !== UNICAST || index === undefined || scope === undefined) return undefined;
  if (attributes.has(at.via)) return undefined;
  const via = attributes.get(at.gateway);
  const gateway = via && addressText(via);
  return { destination, metric, forward: { index, gateway, scope, protocol } };
}
