import { createPrivateKey, createPublicKey } from 'node:crypto';
import { formatWireguardKey } from '#models/vpp/wireguard-key.ts';
import { fromAddress, fromPrefix } from '#vpp/binapi/addresses.ts';
import { WireguardPeerFlags } from '#vpp/binapi/enums.gen.ts';
import type {
  WantWireguardPeerEvents,
  WireguardInterface,
  WireguardPeer,
} from '#vpp/binapi/messages.gen.ts';
import type { Peer } from '#vpp/binapi/server.ts';
import { IndexPool, type Interfaces, NO_MAC } from './interfaces.ts';
import type { MessageHandlers } from './message-handlers.ts';
import { NONE, retval } from './retval.ts';
import type { WireguardEnd, WireguardLinks } from './wireguard-links.ts';

const MAX_INSTANCES = 16 * 1024;

interface Tunnel {
  readonly details: WireguardInterface;
  readonly end: WireguardEnd;
  /** The order of VPP's dumps. */
  readonly poolIndex: number;
}

interface SimPeer {
  readonly details: WireguardPeer;
  flags: number;
  /** Receivers of its events. VPP keeps them by peer: one that is added later has none. */
  readonly subscribers: Map<Peer, number>;
}

/** Interfaces of WireGuard and their peers. */
export class Wireguard {
  readonly #interfaces: Interfaces;
  readonly #links: WireguardLinks;
  readonly #tunnels = new Map<number, Tunnel>();
  readonly #instances = new Set<number>();
  readonly #tunnelPool = new IndexPool();
  readonly #peers = new Map<number, SimPeer>();
  readonly #peerPool = new IndexPool();

  constructor(interfaces: Interfaces, links: WireguardLinks) {
    this.#interfaces = interfaces;
    this.#links = links;
    interfaces.onAdmin((iface) => {
      if (this.#tunnels.has(iface.index)) links.changed();
    });
    interfaces.onRemove(({ index }) => this.#remove(index));
  }

  forget(peer: Peer): void {
    for (const { subscribers } of this.#peers.values()) subscribers.delete(peer);
  }

  /** Its sessions end with the process. */
  end(): void {
    for (const { end } of this.#tunnels.values()) this.#links.remove(end);
    this.#tunnels.clear();
    this.#links.changed();
  }

  #create({ interface: asked }: { readonly interface: WireguardInterface }) {
    const instance = asked.user_instance === NONE ? this.#freeInstance() : asked.user_instance;
    if (instance >= MAX_INSTANCES || this.#instances.has(instance))
      return retval.INVALID_REGISTRATION;
    this.#instances.add(instance);
    const iface = this.#interfaces.add({
      kind: 'wireguard',
      name: `wg${instance}`,
      deviceType: 'Wireguard Tunnel',
      mac: NO_MAC,
      linkMtu: 0,
      driver: { link: (adminUp) => adminUp },
    });
    const public_key = publicKeyOf(asked.private_key);
    const details: WireguardInterface = {
      ...asked,
      user_instance: instance,
      sw_if_index: iface.index,
      private_key: new Uint8Array(32),
      public_key,
    };
    const end: WireguardEnd = {
      publicKey: formatWireguardKey(public_key),
      accepts: (key) => iface.adminUp && this.#peersOf(iface.index).some((one) => one.key === key),
      refresh: () => this.#refresh(iface.index),
    };
    this.#tunnels.set(iface.index, { details, end, poolIndex: this.#tunnelPool.allocate() });
    this.#links.add(end);
    return { sw_if_index: iface.index };
  }

  /** VPP takes the lowest one. */
  #freeInstance(): number {
    let instance = 0;
    while (this.#instances.has(instance)) instance++;
    return instance;
  }

  #remove(index: number): void {
    const tunnel = this.#tunnels.get(index);
    if (!tunnel) return;
    for (const { peerIndex } of this.#peersOf(index)) this.#removePeer(peerIndex);
    this.#tunnels.delete(index);
    this.#instances.delete(tunnel.details.user_instance);
    this.#tunnelPool.release(tunnel.poolIndex);
    this.#links.remove(tunnel.end);
    this.#links.changed();
  }

  #peersOf(index: number) {
    return [...this.#peers]
      .filter(([, { details }]) => details.sw_if_index === index)
      .map(([peerIndex, peer]) => ({ peerIndex, peer, key: keyOf(peer) }));
  }

  #add({ peer: asked }: { readonly peer: WireguardPeer }) {
    if (!this.#interfaces.get(asked.sw_if_index)) return retval.INVALID_SW_IF_INDEX;
    if (asked.allowed_ips.length === 0) return retval.INVALID_VALUE;
    if (!this.#tunnels.has(asked.sw_if_index)) return retval.INVALID_SW_IF_INDEX;
    const key = formatWireguardKey(asked.public_key);
    for (const peer of this.#peers.values())
      if (keyOf(peer) === key) return retval.ENTRY_ALREADY_EXISTS;
    const peer_index = this.#peerPool.allocate();
    const details = { ...asked, peer_index };
    this.#peers.set(peer_index, { details, flags: 0, subscribers: new Map() });
    this.#links.changed();
    return { peer_index };
  }

  #removePeer(index: number): void {
    const peer = this.#peers.get(index);
    if (!peer) return;
    this.#setFlags(index, peer, WireguardPeerFlags.WIREGUARD_PEER_STATUS_DEAD);
    this.#peers.delete(index);
    this.#peerPool.release(index);
  }

  #refresh(index: number): void {
    const tunnel = this.#tunnels.get(index);
    const isUp = this.#interfaces.get(index)?.adminUp === true;
    if (!tunnel) return;
    for (const { peerIndex, peer, key } of this.#peersOf(index)) {
      const isEstablished = isUp && this.#links.answers(tunnel.end.publicKey, key);
      const flags = isEstablished ? WireguardPeerFlags.WIREGUARD_PEER_ESTABLISHED : 0;
      this.#setFlags(peerIndex, peer, flags);
    }
  }

  #setFlags(peer_index: number, peer: SimPeer, flags: number): void {
    if (peer.flags === flags) return;
    peer.flags = flags;
    for (const [subscriber, pid] of peer.subscribers)
      subscriber.sendEvent('wireguard_peer_event', { pid, peer_index, flags });
  }

  #subscribe(asked: WantWireguardPeerEvents, subscriber: Peer): number {
    for (const [index, { details, subscribers }] of this.#peers) {
      if (![NONE, undefined, index].includes(asked.peer_index)) continue;
      if (![NONE, undefined, details.sw_if_index].includes(asked.sw_if_index)) continue;
      if (asked.enable_disable === 0) subscribers.delete(subscriber);
      // VPP returns 0 in each event
      else if (!subscribers.has(subscriber)) subscribers.set(subscriber, 0);
    }
    return 0;
  }

  handlers(): MessageHandlers {
    return {
      requests: {
        wireguard_interface_create: (asked) => this.#create(asked),
        wireguard_interface_delete: ({ sw_if_index }) => {
          const iface = this.#interfaces.get(sw_if_index);
          if (!iface) return retval.INVALID_SW_IF_INDEX;
          if (!this.#tunnels.has(sw_if_index)) return retval.INVALID_VALUE;
          this.#interfaces.remove(iface);
          return 0;
        },
        wireguard_peer_add: (asked) => this.#add(asked),
        wireguard_peer_remove: ({ peer_index }) => {
          if (!this.#peers.has(peer_index)) return retval.NO_SUCH_ENTRY;
          this.#removePeer(peer_index);
          this.#links.changed();
          return 0;
        },
        want_wireguard_peer_events: (asked, peer) => this.#subscribe(asked, peer),
      },
      dumps: {
        wireguard_interface_dump: ({ sw_if_index }) =>
          [...this.#tunnels.values()]
            .filter(({ details }) => [NONE, details.sw_if_index].includes(sw_if_index))
            .sort((a, b) => a.poolIndex - b.poolIndex)
            .map(({ details }) => ({ interface: details })),
        wireguard_peers_dump: ({ peer_index }) =>
          [...this.#peers]
            .filter(([index]) => [NONE, undefined, index].includes(peer_index))
            .sort(([a], [b]) => a - b)
            .map(([, { details, flags }]) => ({ peer: { ...details, flags } })),
      },
      snapshot: () => ({
        wireguards: [...this.#tunnels.values()]
          .map(({ details: { sw_if_index, port, src_ip }, end }) =>
            [this.#interfaces.nameOf(sw_if_index), port, fromAddress(src_ip), end.publicKey].join(
              ' ',
            ),
          )
          .sort(),
        wireguardPeers: [...this.#peers.values()]
          .map((peer) => {
            const { sw_if_index, endpoint, port, persistent_keepalive, allowed_ips } = peer.details;
            const networks = allowed_ips.map(fromPrefix);
            const end = `${fromAddress(endpoint)}:${port}`;
            const name = this.#interfaces.nameOf(sw_if_index);
            return [name, keyOf(peer), end, persistent_keepalive, ...networks].join(' ');
          })
          .sort(),
      }),
    };
  }
}

function keyOf({ details }: SimPeer): string {
  return formatWireguardKey(details.public_key);
}

function publicKeyOf(privateKey: Uint8Array): Uint8Array {
  // PKCS #8 of X25519, up to the 32 bytes of the key
  const head = Buffer.from('302e020100300506032b656e04220420', 'hex');
  const der = Buffer.concat([head, privateKey]);
  const { x = '' } = createPublicKey(
    createPrivateKey({ key: der, format: 'der', type: 'pkcs8' }),
  ).export({ format: 'jwk' });
  return new Uint8Array(Buffer.from(x, 'base64url'));
}
