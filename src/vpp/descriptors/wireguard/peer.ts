import { checkField } from '#kvscheduler/api/check-field.ts';
import { defineDescriptor } from '#kvscheduler/api/define-descriptor.ts';
import type { Dependency, KvDescriptor, OperationContext } from '#kvscheduler/api/descriptor.ts';
import { contains, parseCidr, parseIp } from '#models/ip.ts';
import { vppInterfaceKey } from '#models/vpp/interface.ts';
import { vppRouteKey, vppRouteModel } from '#models/vpp/route.ts';
import { formatWireguardKey, parseWireguardKey } from '#models/vpp/wireguard-key.ts';
import { type WireguardPeer, wireguardPeerModel } from '#models/vpp/wireguard-peer.ts';
import type {
  VppInterfaceMetadata,
  WireguardPeerMetadata,
} from '#plugins/controller/api/ports/metadata.ts';
import { fromAddress, fromPrefix, toAddress, toPrefix } from '../../binapi/addresses.ts';
import type { VppClient } from '../../binapi/api.ts';
import type { WireguardPeer as PeerOfVpp } from '../../binapi/messages.gen.ts';
import { ignoreNotFound } from '../ignored-retvals.ts';
import { NONE } from '../limits.ts';
import { interfaceNames } from '../names-by-index.ts';
import type { VppDescriptorOptions } from '../options.ts';

const MAX_U16 = 0xffff;
/** VPP counts them in a byte. */
const MAX_PREFIXES = 255;

/** The only table by which VPP sends handshakes. */
const UNDERLAY_TABLE = 0;

/**
 * A peer of an interface of WireGuard. Packets whose next hop on the interface is one of its allowed addresses are
 * encrypted for it, and what it sends is accepted from these addresses alone. VPP cannot change a peer: each change is
 * a new one, with a new session. It accepts a key once, whatever the interface. The endpoint that VPP reports is where the last
 * packet came from: a peer that was moved differs from the desired one.
 *
 * VPP keeps the indexes of the adjacencies of a peer until it deletes the peer, and then clears what has these indexes: the
 * adjacencies of another peer, if those of this one were deleted before. The route to each next hop holds its adjacency. So a peer is
 * deleted before these routes.
 */
export function wireguardPeerDescriptor({
  client,
  peerSessions,
}: VppDescriptorOptions): KvDescriptor<WireguardPeer, WireguardPeerMetadata> {
  return defineDescriptor('vpp-wireguard-peer', wireguardPeerModel, {
    retrieveDependencies: ['vpp-interface'],
    metadataFields: ({ peerIndex }) => ({ peerIndex: [String(peerIndex)] }),
    claims: (_key, { public_key }) => [`wireguard-peer/${public_key}`],
    validate,
    dependencies,

    async create(key, value, ctx) {
      const { peer_index: peerIndex } = await client.request('wireguard_peer_add', {
        peer: message(value, indexOf(value, ctx)),
      });
      peerSessions?.created(nameOf(key));
      return { peerIndex, iface: value.wg_if_name, publicKey: value.public_key };
    },

    async delete(_key, { public_key }, { peerIndex }) {
      // VPP deletes it with its interface, and gives its index to another one
      const index = await findPeer(client, peerIndex, public_key);
      if (index !== undefined)
        await ignoreNotFound(client.request('wireguard_peer_remove', { peer_index: index }));
    },

    async retrieve(correlate, ctx) {
      if (!client.has('wireguard_peers_dump')) return [];
      const names = interfaceNames(ctx);
      const desired = new Map(correlate.map(({ key, value }) => [key, value]));
      const found = await client.dump('wireguard_peers_dump', { peer_index: NONE });
      return found.flatMap(({ peer }) => {
        const iface = names.get(peer.sw_if_index);
        if (iface === undefined) return [];
        const read = readPeer(peer, iface);
        const key = wireguardPeerModel.key(read);
        const value = { ...read, next_hops: desired.get(key)?.next_hops ?? [] };
        const metadata = {
          peerIndex: peer.peer_index,
          iface,
          publicKey: value.public_key,
        };
        const broken = peerSessions?.isLost(nameOf(key))
          ? 'its session ended, and VPP may not make another one'
          : undefined;
        return [{ key, value, metadata, origin: 'from-NB' as const, broken }];
      });
    },
  });
}

function isIn(networks: readonly string[], address: string): boolean {
  const bytes = parseIp(address);
  return networks.some((text) => {
    const cidr = parseCidr(text);
    return bytes !== undefined && cidr !== undefined && contains(cidr, bytes);
  });
}

/** As in the map of the metadata. */
function nameOf(key: string): string {
  return key.slice(wireguardPeerModel.keyPrefix.length);
}

function validate(key: string, value: WireguardPeer): void {
  checkField(key, value.wg_if_name !== '', 'wg_if_name', 'missing');
  checkField(key, value.public_key !== '', 'public_key', 'missing');
  checkField(key, parseIp(value.endpoint) !== undefined, 'endpoint', 'is not an IP address');
  checkField(key, value.port > 0 && value.port <= MAX_U16, 'port', 'is not a port');
  const fits = value.persistent_keepalive <= MAX_U16;
  checkField(key, fits, 'persistent_keepalive', `above ${MAX_U16}`);
  const { length } = value.allowed_ips;
  const isCounted = length > 0 && length <= MAX_PREFIXES;
  checkField(key, isCounted, 'allowed_ips', `must be 1 to ${MAX_PREFIXES} networks`);
  checkField(key, new Set(value.allowed_ips).size === length, 'allowed_ips', 'listed twice');
  const isNextHop = value.next_hops.every((address) => isIn(value.allowed_ips, address));
  checkField(key, isNextHop, 'next_hops', 'not in allowed_ips');
}

function dependencies(_key: string, value: WireguardPeer): readonly Dependency[] {
  const { wg_if_name: name, next_hops } = value;
  return [
    { label: 'interface-exists', key: vppInterfaceKey.build({ name }) },
    ...next_hops.map((nextHop) => ({
      label: `next-hop ${nextHop}`,
      anyOf: {
        prefixes: [`${vppRouteModel.keyPrefix}if/${name}/`],
        accepts: (key: string) => isAnchor(key, name, nextHop),
      },
    })),
  ];
}

/** Whether it is the route to a next hop by itself, in any table. */
function isAnchor(key: string, name: string, address: string): boolean {
  const route = vppRouteKey.parse(key);
  const isByItself = route?.outgoingInterface === name && route.nextHop === address;
  return isByItself && route.destination === `${address}/${address.includes(':') ? 128 : 32}`;
}

function indexOf({ wg_if_name: name }: WireguardPeer, ctx: OperationContext): number {
  return ctx.metadata<VppInterfaceMetadata>(vppInterfaceKey.build({ name })).swIfIndex;
}

function message(value: WireguardPeer, sw_if_index: number): PeerOfVpp {
  return {
    peer_index: NONE,
    public_key: parseWireguardKey(value.public_key) ?? new Uint8Array(32),
    port: value.port,
    persistent_keepalive: value.persistent_keepalive,
    table_id: UNDERLAY_TABLE,
    endpoint: toAddress(value.endpoint),
    sw_if_index,
    flags: 0,
    allowed_ips: value.allowed_ips.map(toPrefix),
  };
}

function readPeer(peer: PeerOfVpp, wg_if_name: string): WireguardPeer {
  return wireguardPeerModel.canonical({
    public_key: formatWireguardKey(peer.public_key),
    port: peer.port,
    persistent_keepalive: peer.persistent_keepalive,
    endpoint: fromAddress(peer.endpoint),
    wg_if_name,
    allowed_ips: peer.allowed_ips.map(fromPrefix),
  });
}

/** @param known where it was */
async function findPeer(
  client: VppClient,
  known: number,
  publicKey: string,
): Promise<number | undefined> {
  const isIt = ({ peer }: { readonly peer: PeerOfVpp }) =>
    formatWireguardKey(peer.public_key) === publicKey;
  const there = await client.dump('wireguard_peers_dump', { peer_index: known });
  const found =
    there.find(isIt) ??
    (await client.dump('wireguard_peers_dump', { peer_index: NONE })).find(isIt);
  return found?.peer.peer_index;
}
