/**
 * The sessions of VPP with peers of WireGuard. VPP sends events to those who subscribed to a peer after it was added, and
 * their indexes are reused: an event only triggers a read of its peer. All peers are read when VPP is connected, and periodically.
 *
 * VPP begins to make a session when a peer is added and does not give up before it has one. When a session ends because the peer
 * does not answer, it gives up after some minutes, and without packets nothing begins again: after a minute such a peer
 * is lost. A resync then creates it again.
 */
import type { Clock, Timer } from '#infra/clock/clock.ts';
import { errorText } from '#infra/errors/errors.ts';
import type { MappingEvent, NamedMapping } from '#infra/idxmap/idxmap.ts';
import type { Logger } from '#infra/log/log.ts';
import { formatWireguardKey } from '#models/vpp/wireguard-key.ts';
import type { WireguardPeerMetadata } from '#plugins/controller/api/ports/metadata.ts';
import type {
  WireguardSession,
  WireguardSessionPort,
} from '#plugins/controller/api/ports/wireguard.ts';
import type { VppClient } from './binapi/api.ts';
import { WireguardPeerFlags } from './binapi/enums.gen.ts';
import type { WireguardPeer } from './binapi/messages.gen.ts';
import { NONE } from './descriptors/limits.ts';
import type { PeerSessions } from './descriptors/options.ts';

/** Events within this time after the first one are covered by the same read. */
const COLLECT_MS = 20;
/** Interval of reads of all peers. */
const PERIOD_MS = 10_000;
/** Twice the interval of keepalives, by which each end notices that the other one answers again. */
const LOST_MS = 60_000;

interface State {
  readonly peer: WireguardPeerMetadata;
  isEstablished: boolean;
  /** As the listeners know it: also of the peer before, if this one has its name and its key. */
  isKnownAsEstablished: boolean;
  /** By the monotonic clock: the wall clock may be set back by years. */
  since: number;
  /** VPP does not give up. */
  isBeginning: boolean;
  isReportedAsLost: boolean;
}

export interface WireguardSessionsOptions {
  readonly client: VppClient;
  readonly clock: Clock;
  readonly log: Logger;
}

export class WireguardSessions implements WireguardSessionPort, PeerSessions {
  readonly #options: WireguardSessionsOptions;
  readonly #states = new Map<string, State>();
  readonly #changeListeners = new Set<(changed: readonly WireguardSession[]) => void>();
  readonly #lossListeners = new Set<() => void>();
  #peers: NamedMapping<WireguardPeerMetadata> | undefined;
  readonly #unsubscribers: (() => void)[] = [];
  /** Peers that were created and are not in the map yet. */
  readonly #created = new Set<string>();
  #changed = new Set<string>();
  #lastLoss = Number.NEGATIVE_INFINITY;
  #soon: Timer | undefined;
  #periodic: Timer | undefined;
  /** Of two reads at a time, the older state could be the last one. */
  #lastRead = Promise.resolve();

  constructor(options: WireguardSessionsOptions) {
    this.#options = options;
  }

  start(peers: NamedMapping<WireguardPeerMetadata>): void {
    const { client } = this.#options;
    this.#peers = peers;
    for (const name of peers.listAllNames()) this.#add(name, peers.getValue(name)!);
    this.#unsubscribers.push(
      peers.watch('wireguard-sessions', (event) => this.#onPeer(event)),
      client.onEvent('wireguard_peer_event', ({ peer_index }) =>
        this.#readSoon(peers.listNames('peerIndex', String(peer_index))),
      ),
      client.onStateChange((state) => {
        if (state === 'connected') this.#readSoon(this.#states.keys());
      }),
    );
    this.#startPeriod();
    this.#readSoon(this.#states.keys());
  }

  close(): void {
    for (const end of this.#unsubscribers.splice(0)) end();
    this.#soon?.cancel();
    this.#periodic?.cancel();
  }

  async read(): Promise<readonly WireguardSession[]> {
    const { client, clock } = this.#options;
    if (!client.has('wireguard_peers_dump')) return [];
    const names = new Map<number, string>();
    const [peers, interfaces] = await Promise.all([
      client.dump('wireguard_peers_dump', { peer_index: NONE }),
      client.dump('sw_interface_dump', {
        sw_if_index: NONE,
        name_filter_valid: false,
        name_filter: '',
      }),
    ]);
    for (const { sw_if_index, tag } of interfaces) names.set(sw_if_index, tag);
    const known = new Map([...this.#states.values()].map((one) => [one.peer.publicKey, one]));
    return peers.map(({ peer }) => {
      const publicKey = formatWireguardKey(peer.public_key);
      const isEstablished = isSession(peer);
      const state = known.get(publicKey);
      const isSame = state?.isEstablished === isEstablished;
      const since = this.#dateOf(isSame ? state.since : clock.monotonic());
      const iface = names.get(peer.sw_if_index) ?? '';
      return { iface, publicKey, isEstablished, since };
    });
  }

  sessions(): readonly WireguardSession[] {
    return [...this.#states.values()].map((state) => this.#sessionOf(state));
  }

  onChange(listener: (changed: readonly WireguardSession[]) => void): () => void {
    this.#changeListeners.add(listener);
    return () => void this.#changeListeners.delete(listener);
  }

  /** Calls the listener when a peer is lost: a resync creates it again. */
  onLost(listener: () => void): () => void {
    this.#lossListeners.add(listener);
    return () => void this.#lossListeners.delete(listener);
  }

  isLost(peer: string): boolean {
    const state = this.#states.get(peer);
    if (state === undefined || state.isEstablished || state.isBeginning) return false;
    return this.#options.clock.monotonic() - state.since >= LOST_MS;
  }

  created(peer: string): void {
    this.#created.add(peer);
  }

  #onPeer({ name, value, del }: MappingEvent<WireguardPeerMetadata>): void {
    if (del) {
      // also while a resync reads the peers back
      this.#readSoon([name]);
      return;
    }
    const known = this.#states.get(name);
    const isSame =
      known?.peer.peerIndex === value.peerIndex &&
      known.peer.publicKey === value.publicKey &&
      !this.#created.has(name);
    if (!isSame) this.#add(name, value);
    this.#readSoon([name]);
  }

  #add(name: string, peer: WireguardPeerMetadata): void {
    const known = this.#states.get(name);
    // a peer that is created again because it has no session has none since then
    const before = known?.peer.publicKey === peer.publicKey ? known : undefined;
    this.#states.set(name, {
      peer,
      isEstablished: false,
      isKnownAsEstablished: before?.isKnownAsEstablished ?? false,
      since: before?.isEstablished === false ? before.since : this.#options.clock.monotonic(),
      isBeginning: this.#created.delete(name),
      isReportedAsLost: false,
    });
  }

  #readSoon(names: Iterable<string>): void {
    for (const name of names) this.#changed.add(name);
    if (this.#changed.size === 0 || this.#soon || this.#unsubscribers.length === 0) return;
    this.#soon = this.#options.clock.timer(COLLECT_MS, () => {
      this.#soon = undefined;
      void this.#read(false);
    });
  }

  #startPeriod(): void {
    this.#periodic = this.#options.clock.timer(PERIOD_MS, () => {
      void this.#read(true).then(() => {
        if (this.#unsubscribers.length > 0) this.#startPeriod();
      });
    });
  }

  #read(isPeriodic: boolean): Promise<void> {
    this.#lastRead = this.#lastRead.then(async () => {
      const names = isPeriodic ? new Set(this.#states.keys()) : this.#changed;
      if (!isPeriodic) this.#changed = new Set();
      if (names.size === 0 || this.#options.client.state !== 'connected') return;
      try {
        await this.#readPeers(names, isPeriodic);
      } catch (error) {
        // in their order: the session of a key ends at one address before it begins at another one
        if (!isPeriodic) this.#changed = new Set([...names, ...this.#changed]);
        const text = errorText(error);
        this.#options.log.warn({ error: text }, 'cannot read sessions of WireGuard; will retry');
      }
    });
    return this.#lastRead;
  }

  /** Subscribes, then reads: changes before the subscription cause no event. */
  async #readPeers(names: ReadonlySet<string>, isPeriodic: boolean): Promise<void> {
    const { client } = this.#options;
    const indexes = isPeriodic ? [NONE] : [...names].flatMap((name) => this.#indexOf(name));
    const found = await Promise.all(
      indexes.flatMap((peer_index) => [
        client
          .request('want_wireguard_peer_events', {
            sw_if_index: NONE,
            peer_index,
            enable_disable: 1,
            pid: 0,
          })
          .then(() => []),
        client.dump('wireguard_peers_dump', { peer_index }),
      ]),
    );
    const byIndex = new Map(found.flat().map(({ peer }) => [peer.peer_index, peer]));
    const ended: State[] = [];
    const changed: State[] = [];
    for (const name of names) {
      const state = this.#states.get(name);
      if (state === undefined) continue;
      const found = byIndex.get(state.peer.peerIndex);
      // the index may be that of another peer
      const isIt = found && formatWireguardKey(found.public_key) === state.peer.publicKey;
      if (!isIt && this.#peers?.has(name) !== true) {
        this.#states.delete(name);
        ended.push({ ...state, isEstablished: false });
        continue;
      }
      this.#update(state, isIt === true && isSession(found));
      if (state.isEstablished !== state.isKnownAsEstablished) changed.push(state);
      state.isKnownAsEstablished = state.isEstablished;
    }
    this.#reportChanges([...ended, ...changed]);
    if (isPeriodic) this.#reportLosses();
  }

  #indexOf(name: string): readonly number[] {
    const state = this.#states.get(name);
    return state === undefined ? [] : [state.peer.peerIndex];
  }

  #update(state: State, isEstablished: boolean): void {
    if (isEstablished === state.isEstablished) return;
    state.isEstablished = isEstablished;
    state.since = this.#options.clock.monotonic();
    if (isEstablished) {
      state.isBeginning = false;
      state.isReportedAsLost = false;
    }
  }

  /** Not more often than a session can be lost: many may be lost one after the other. */
  #reportLosses(): void {
    const now = this.#options.clock.monotonic();
    const lost = [...this.#states].flatMap(([name, state]) =>
      !state.isReportedAsLost && this.isLost(name) ? [state] : [],
    );
    if (lost.length === 0 || now - this.#lastLoss < LOST_MS) return;
    this.#lastLoss = now;
    for (const state of lost) state.isReportedAsLost = true;
    if (this.#unsubscribers.length > 0) for (const listener of this.#lossListeners) listener();
  }

  #reportChanges(states: readonly State[]): void {
    if (states.length === 0 || this.#unsubscribers.length === 0) return;
    const changed = states.map((state) => this.#sessionOf(state));
    for (const listener of this.#changeListeners) listener(changed);
  }

  #sessionOf({ peer, isEstablished, since }: State): WireguardSession {
    const { iface, publicKey } = peer;
    return { iface, publicKey, isEstablished, since: this.#dateOf(since) };
  }

  #dateOf(monotonic: number): Date {
    const { clock } = this.#options;
    return new Date(clock.wallTime() - (clock.monotonic() - monotonic));
  }
}

function isSession({ flags }: WireguardPeer): boolean {
  return (flags & WireguardPeerFlags.WIREGUARD_PEER_ESTABLISHED) !== 0;
}
