import type { Clock } from '#infra/clock/clock.ts';
import type { NatBackend } from '#packet-trace/nat-config.ts';
import {
  clientText,
  flowsOf,
  flowText,
  type NatClient,
  type NatDirection,
  type NatFlow,
  type NatSession,
  type NatSessions,
} from '#packet-trace/nat-session.ts';
import type { Packet } from '#packet-trace/packet.ts';
import { TcpConnection } from './nat44-tcp-connection.ts';

/** Seconds without packets until a session has timed out. */
export interface NatTimeouts {
  readonly udp: number;
  readonly tcp_established: number;
  readonly tcp_transitory: number;
  readonly icmp: number;
}

interface Entry {
  readonly session: NatSession;
  readonly tcp: TcpConnection;
  /** Monotonic milliseconds. */
  lastHeard: number;
  packets: number;
}

interface Affinity {
  readonly backend: NatBackend;
  readonly seconds: number;
  /** Sessions of the client. */
  sessions: number;
  /** Monotonic milliseconds; only without sessions. */
  expires: number;
}

interface Dependencies {
  readonly clock: Clock;
  readonly timeouts: () => NatTimeouts;
  /** Maximum number of all sessions for a new one in this table. */
  readonly limit: (table: number) => number;
}

/**
 * The sessions of NAT44, as traced packets make them. A session that timed out stays until a packet finds
 * it, or until another one takes its place.
 */
export class NatSessionTable implements NatSessions {
  readonly #deps: Dependencies;
  readonly #start: number;
  /** In the order of creation. */
  readonly #entries = new Map<NatSession, Entry>();
  readonly #byFlow = new Map<string, NatSession>();
  readonly #affinities = new Map<string, Affinity>();

  constructor(deps: Dependencies) {
    this.#deps = deps;
    this.#start = deps.clock.monotonic();
  }

  /** Those that have timed out, too. */
  get size(): number {
    return this.#entries.size;
  }

  find(flow: NatFlow): NatSession | undefined {
    const found = this.#byFlow.get(flowText(flow));
    if (found === undefined || !this.#isTimedOut(found)) return found;
    this.remove(found);
    return undefined;
  }

  hasRoom(table: number, kind: NatSession['kind']): boolean {
    const isFull = () => this.#entries.size >= this.#deps.limit(table);
    // VPP frees a place only for traffic of the inside
    if (isFull() && kind === 'dynamic') this.#freeOne();
    return !isFull();
  }

  add(session: NatSession): void {
    this.#freeOne();
    const now = this.#deps.clock.monotonic();
    this.#entries.set(session, { session, tcp: new TcpConnection(), lastHeard: now, packets: 0 });
    for (const flow of flowsOf(session)) this.#byFlow.set(flow, session);
    const affinity = this.#affinityOf(session);
    if (affinity) affinity.sessions++;
  }

  remove(session: NatSession): void {
    if (!this.#entries.delete(session)) return;
    for (const flow of flowsOf(session))
      if (this.#byFlow.get(flow) === session) this.#byFlow.delete(flow);
    const affinity = this.#affinityOf(session);
    if (!affinity) return;
    affinity.sessions--;
    affinity.expires = this.#deps.clock.monotonic() + affinity.seconds * 1000;
  }

  removeAll(isGone: (session: NatSession) => boolean): void {
    for (const session of [...this.#entries.keys()].filter(isGone)) this.remove(session);
  }

  /** Also if it has timed out. @returns false if no session has the flow */
  removeFlow(flow: NatFlow): boolean {
    const found = this.#byFlow.get(flowText(flow));
    if (found) this.remove(found);
    return found !== undefined;
  }

  clear(): void {
    this.#entries.clear();
    this.#byFlow.clear();
    this.#affinities.clear();
  }

  use(session: NatSession, direction: NatDirection, { tcpFlags = ['SYN'] }: Packet): void {
    const entry = this.#entries.get(session);
    if (!entry) return;
    entry.lastHeard = this.#deps.clock.monotonic();
    entry.packets++;
    if (session.protocol === 'TCP') entry.tcp.see(direction, tcpFlags);
  }

  affinity(client: NatClient): NatBackend | undefined {
    const text = clientText(client);
    const found = this.#affinities.get(text);
    if (found === undefined) return undefined;
    if (found.sessions > 0 || found.expires >= this.#deps.clock.monotonic()) return found.backend;
    this.#affinities.delete(text);
    return undefined;
  }

  addAffinity(client: NatClient, backend: NatBackend, seconds: number): void {
    const affinity = { backend, seconds, sessions: 0, expires: 0 };
    this.#affinities.set(clientText(client), affinity);
  }

  /** Drops the affinities of all clients of a mapping. */
  removeAffinities(of: Omit<NatClient, 'client'>): void {
    const end = clientText({ ...of, client: '' });
    for (const text of this.#affinities.keys())
      if (text.endsWith(end)) this.#affinities.delete(text);
  }

  /** In the order of creation, with what VPP counts. */
  *all(): Generator<{
    readonly session: NatSession;
    readonly packets: number;
    /** Seconds since VPP started, when the last packet came. */
    readonly heardAt: number;
    readonly idleSeconds: number;
    readonly isTimedOut: boolean;
  }> {
    const now = this.#deps.clock.monotonic();
    for (const { session, packets, lastHeard } of this.#entries.values()) {
      yield {
        session,
        packets,
        heardAt: Math.floor((lastHeard - this.#start) / 1000),
        idleSeconds: Math.floor((now - lastHeard) / 1000),
        isTimedOut: this.#isTimedOut(session),
      };
    }
  }

  #affinityOf({ hasAffinity, externalHost, outside, protocol }: NatSession): Affinity | undefined {
    if (!hasAffinity) return undefined;
    const { address, port } = outside;
    return this.#affinities.get(
      clientText({ client: externalHost.address, address, port, protocol }),
    );
  }

  #isTimedOut(session: NatSession): boolean {
    const entry = this.#entries.get(session);
    return entry === undefined || this.#timesOutAt(entry) <= this.#deps.clock.monotonic();
  }

  #timesOutAt(entry: Entry): number {
    return entry.lastHeard + this.#timeout(entry) * 1000;
  }

  #timeout({ session, tcp }: Entry): number {
    const timeouts = this.#deps.timeouts();
    switch (session.protocol) {
      case 'ICMP':
        return timeouts.icmp;
      case 'UDP':
        return timeouts.udp;
      case 'TCP':
        return tcp.isEstablished ? timeouts.tcp_established : timeouts.tcp_transitory;
    }
  }

  /** Removes the oldest session that timed out. */
  #freeOne(): void {
    const now = this.#deps.clock.monotonic();
    let oldest: Entry | undefined;
    for (const entry of this.#entries.values())
      if (this.#timesOutAt(entry) <= now && entry.lastHeard < (oldest?.lastHeard ?? Infinity))
        oldest = entry;
    if (oldest) this.remove(oldest.session);
  }
}
