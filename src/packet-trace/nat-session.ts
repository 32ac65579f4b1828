/** Memory of a NAT44: sessions, and the backends of clients with affinity. */
import type { NatBackend } from './nat-config.ts';
import type { Packet, Protocol } from './packet.ts';

/** Addresses and ports of a packet, and the routing table of the interface by which it entered. */
export interface NatFlow {
  readonly protocol: Protocol;
  readonly source: string;
  readonly sourcePort: number;
  readonly destination: string;
  readonly destinationPort: number;
  readonly table: number;
}

/** How the packets of a flow are translated. */
export interface NatRule {
  readonly match: NatFlow;
  readonly source: string;
  readonly sourcePort: number;
  readonly destination: string;
  readonly destinationPort: number;
  /** Table in which the destination is looked up; undefined: that of the interface. */
  readonly table: number | undefined;
}

export type NatDirection = 'in2out' | 'out2in';

export interface NatEnd {
  readonly address: string;
  readonly port: number;
}

export interface NatSession {
  /**
   * - `static`, `balanced`: to a mapping with one backend, with several
   * - `dynamic`: source NAT
   * - `bypass`: traffic that is not translated
   */
  readonly kind: 'static' | 'balanced' | 'dynamic' | 'bypass';
  readonly protocol: Protocol;
  readonly inside: NatEnd & { readonly table: number };
  readonly outside: NatEnd & { readonly table: number };
  readonly externalHost: NatEnd;
  /** Twice-NAT: what the inside sees instead of the external host. */
  readonly externalHostNat: NatEnd | undefined;
  readonly hasAffinity: boolean;
  /** Source NAT to the external address of a mapping. */
  readonly isHairpinning: boolean;
  readonly in2out: NatRule;
  /** A bypass has none. */
  readonly out2in: NatRule | undefined;
  /** Key and label of the mapping; empty without one. */
  readonly key: string;
  readonly label: string;
}

/** A client of an external address and port. */
export interface NatClient {
  readonly client: string;
  readonly address: string;
  readonly port: number;
  readonly protocol: Protocol;
}

/** The memory of one VPP. */
export interface NatSessions {
  /** The session that has the flow in either direction. */
  find(flow: NatFlow): NatSession | undefined;
  /** Whether a session of packets that enter in this table can be added. */
  hasRoom(table: number, kind: NatSession['kind']): boolean;
  /** One with affinity keeps the affinity of its client as long as it exists. */
  add(session: NatSession): void;
  remove(session: NatSession): void;
  /** A packet of the session. VPP counts it in the direction of the node that processes it. */
  use(session: NatSession, direction: NatDirection, packet: Packet): void;
  affinity(client: NatClient): NatBackend | undefined;
  /** @param seconds for which it is kept after the last session of the client */
  addAffinity(client: NatClient, backend: NatBackend, seconds: number): void;
}

export function flowText(flow: NatFlow): string {
  const { protocol, source, sourcePort, destination, destinationPort, table } = flow;
  return `${protocol} ${source}:${sourcePort} ${destination}:${destinationPort} ${table}`;
}

/** The flow of replies that enter in a table. */
export function reverse(flow: NatFlow, table: number): NatFlow {
  return {
    protocol: flow.protocol,
    source: flow.destination,
    sourcePort: flow.destinationPort,
    destination: flow.source,
    destinationPort: flow.sourcePort,
    table,
  };
}

export function clientText({ client, address, port, protocol }: NatClient): string {
  return `${client} ${address}:${port} ${protocol}`;
}

/** The flows of a session. */
export function flowsOf({ in2out, out2in }: NatSession): readonly string[] {
  return out2in === undefined
    ? [flowText(in2out.match)]
    : [flowText(in2out.match), flowText(out2in.match)];
}

/** Memory of a trace: changes of a base, which is not changed. */
export class ChangedNatSessions implements NatSessions {
  readonly #base: NatSessions | undefined;
  /** By flow; undefined: it is removed from the base. */
  readonly #sessions = new Map<string, NatSession | undefined>();
  readonly #affinities = new Map<string, NatBackend>();

  constructor(base: NatSessions | undefined) {
    this.#base = base;
  }

  find(flow: NatFlow): NatSession | undefined {
    const text = flowText(flow);
    return this.#sessions.has(text) ? this.#sessions.get(text) : this.#base?.find(flow);
  }

  hasRoom(table: number, kind: NatSession['kind']): boolean {
    return this.#base?.hasRoom(table, kind) ?? true;
  }

  add(session: NatSession): void {
    for (const flow of flowsOf(session)) this.#sessions.set(flow, session);
  }

  remove(session: NatSession): void {
    for (const flow of flowsOf(session)) this.#sessions.set(flow, undefined);
  }

  use(): void {
    // a trace has no time
  }

  affinity(client: NatClient): NatBackend | undefined {
    return this.#affinities.get(clientText(client)) ?? this.#base?.affinity(client);
  }

  addAffinity(client: NatClient, backend: NatBackend): void {
    this.#affinities.set(clientText(client), backend);
  }
}
