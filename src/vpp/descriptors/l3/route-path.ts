/**
 * Conversion between a route of the model and a path of a route in VPP. VPP has one route per
 * destination; each route of the model is one of its paths. To VPP two paths are the same if table,
 * destination, next hop, interface and table of the next hop are equal, whatever their weights.
 */
import { network } from '#models/ip.ts';
import type { VppRoute } from '#models/vpp/route.ts';
import { bytesOfAddress, fromPrefix, fromUnion, toPrefix } from '../../binapi/addresses.ts';
import { AddressFamily, FibPathNhProto, FibPathType } from '../../binapi/enums.gen.ts';
import type { FibPath, IpRoute, Prefix } from '../../binapi/messages.gen.ts';
import { NONE } from '../limits.ts';

const NO_LABEL = 0x10_0000;

/**
 * The route of a request that adds it. A host without a next hop is attached to the interface: only then VPP
 * accepts its ARP replies, if it is in no network of the interface.
 * @param swIfIndex of the outgoing interface; undefined if the route has none
 */
export function routeToAdd(route: VppRoute, swIfIndex: number | undefined): IpRoute {
  const { next_hop_addr: hop } = route;
  return toIpRoute(route, isAny(hop) ? '' : hop, swIfIndex);
}

/** The route of a request that deletes it. @param swIfIndex as above */
export function routeToDelete(route: VppRoute, swIfIndex: number | undefined): IpRoute {
  return toIpRoute(route, nextHop(route), swIfIndex);
}

function toIpRoute(route: VppRoute, hop: string, swIfIndex: number | undefined): IpRoute {
  return {
    table_id: route.vrf_id,
    stats_index: 0,
    prefix: toPrefix(route.dst_network),
    paths: [toPath(route, hop, swIfIndex)],
  };
}

/** Types of paths that end in VPP. It crashes on invalid types: besides paths that lead on only these are sent. */
const endingTypes: Readonly<Partial<Record<VppRoute['type'], number>>> = {
  DROP: FibPathType.FIB_API_PATH_TYPE_DROP,
  UNREACHABLE: FibPathType.FIB_API_PATH_TYPE_ICMP_UNREACH,
};

const endings = Object.keys(endingTypes) as VppRoute['type'][];

/** The type of a path that ends in VPP, which drops the packets if the destination is its own next hop. */
function endOf(route: VppRoute): VppRoute['type'] | undefined {
  if (endingTypes[route.type] !== undefined) return route.type;
  return isOwnNextHop(route) ? 'DROP' : undefined;
}

function isOwnNextHop({ next_hop_addr, outgoing_interface, dst_network }: VppRoute): boolean {
  if (outgoing_interface !== '' || isAny(next_hop_addr)) return false;
  return dst_network.startsWith(`${next_hop_addr}/`);
}

function toPath(route: VppRoute, hop: string, swIfIndex: number | undefined): FibPath {
  const end = endOf(route);
  const ends = end !== undefined;
  return {
    // in a drop path, index 0 would mean local0
    ...pathTo(route.dst_network.includes(':'), ends ? '' : hop, ends ? NONE : swIfIndex),
    table_id: nextHopTable(route),
    weight: weight(route),
    preference: route.preference,
    type: (end && endingTypes[end]) ?? leadingType(route),
  };
}

function leadingType({ type }: VppRoute): number {
  return type === 'SOURCE_VRF'
    ? FibPathType.FIB_API_PATH_TYPE_SOURCE_LOOKUP
    : FibPathType.FIB_API_PATH_TYPE_NORMAL;
}

/** Whether the route looks up an address of the packet in another table. */
export function leadsToTable({ type }: VppRoute): boolean {
  return type === 'INTER_VRF' || type === 'SOURCE_VRF';
}

/** @param hop empty: none */
export function pathTo(isV6: boolean, hop: string, swIfIndex: number | undefined): FibPath {
  const address = new Uint8Array(16);
  if (hop !== '') address.set(bytesOfAddress(hop));
  return {
    sw_if_index: swIfIndex ?? NONE,
    table_id: 0,
    rpf_id: 0,
    weight: 1,
    preference: 0,
    type: FibPathType.FIB_API_PATH_TYPE_NORMAL,
    flags: 0,
    proto: isV6
      ? FibPathNhProto.FIB_API_PATH_NH_PROTO_IP6
      : FibPathNhProto.FIB_API_PATH_NH_PROTO_IP4,
    nh: { address, via_label: NO_LABEL, obj_id: NONE, classify_table_index: NONE },
    n_labels: 0,
    label_stack: [],
  };
}

export function weight(route: Pick<VppRoute, 'weight'>): number {
  return route.weight === 0 ? 1 : route.weight;
}

function nextHopTable(route: VppRoute): number {
  return leadsToTable(route) ? route.via_vrf_id : route.vrf_id;
}

/** Text that is equal exactly for paths that are the same to VPP: it does not compare which address is looked up. */
export function pathIdentity(route: VppRoute): string {
  const start = `${route.vrf_id}/${route.dst_network}`;
  const end = endOf(route);
  if (end !== undefined) return `${start}/${end.toLowerCase()}`;
  const hop = nextHop(route);
  // with an interface the table is irrelevant: the next hop is behind that interface
  if (route.outgoing_interface !== '') return `${start}/${route.outgoing_interface}/${hop}`;
  return `${start}//${hop}/${nextHopTable(route)}`;
}

/**
 * Empty: none. For a host that is attached to an interface, VPP stores the host as its own next hop and
 * would not find the path by a message without a next hop.
 */
function nextHop({ next_hop_addr, outgoing_interface, dst_network }: VppRoute): string {
  if (!isAny(next_hop_addr)) return next_hop_addr;
  const [address = '', length] = dst_network.split('/');
  const isHost = Number(length) === (address.includes(':') ? 128 : 32);
  return isHost && outgoing_interface !== '' ? address : '';
}

/** @param address canonical text; an address of zeros means no next hop */
export function isAny(address: string): boolean {
  return address === '' || address === '0.0.0.0' || address === '::';
}

/**
 * Converts a path to a route of the model. VPP does not tell whether a lookup in another table is one of the source: the
 * result is INTER_VRF for both.
 * @param names logical names by sw_if_index
 * @returns undefined for a path of a type that the agent never creates, or on an unmanaged interface
 */
export function fromPath(
  route: Pick<IpRoute, 'table_id' | 'prefix'>,
  path: FibPath,
  names: ReadonlyMap<number, string>,
): VppRoute | undefined {
  const { table_id: vrf_id, prefix } = route;
  const { weight, preference } = path;
  const common = { vrf_id, dst_network: destination(prefix), weight, preference };
  const ending = endings.find((type) => endingTypes[type] === path.type);
  if (ending !== undefined) {
    return freeze({
      ...common,
      type: ending,
      next_hop_addr: '',
      outgoing_interface: '',
      via_vrf_id: 0,
    });
  }
  if (path.type !== FibPathType.FIB_API_PATH_TYPE_NORMAL) return undefined;
  const outgoing = path.sw_if_index === NONE ? '' : names.get(path.sw_if_index);
  if (outgoing === undefined) return undefined;
  const hop = fromUnion(prefix.address.af, path.nh.address);
  const inter = outgoing === '' && path.table_id !== vrf_id;
  return freeze({
    ...common,
    type: inter ? 'INTER_VRF' : 'INTRA_VRF',
    next_hop_addr: isAny(hop) ? '' : hop,
    outgoing_interface: outgoing,
    via_vrf_id: inter ? path.table_id : 0,
  });
}

/**
 * VPP keeps a prefix as it was first written: in the subnet of an interface with the address of the
 * interface. Most prefixes have no such bits, and are not copied.
 */
function destination(prefix: Prefix): string {
  if (!hasHostBits(prefix)) return fromPrefix(prefix);
  const { address, len } = prefix;
  const un = network({ address: address.un, length: len }).address;
  return fromPrefix({ address: { af: address.af, un }, len });
}

function hasHostBits({ address: { af, un }, len }: Prefix): boolean {
  const end = af === AddressFamily.ADDRESS_IP4 ? 4 : 16;
  for (let at = len >>> 3; at < end; at++) {
    const hostBits = at === len >>> 3 ? 0xff >> (len & 7) : 0xff;
    if (((un[at] as number) & hostBits) !== 0) return true;
  }
  return false;
}

/** The route is canonical already: 100,000 routes need no parsing. */
function freeze(route: VppRoute): VppRoute {
  return Object.freeze(route);
}
