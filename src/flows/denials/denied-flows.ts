import type { Flow, FlowEnd } from '#documents/flows.ts';
import type { Clock } from '#infra/clock/clock.ts';
import { rfc3339 } from '#infra/clock/rfc3339.ts';
import type { DeniedPacket, PacketEnd } from '#plugins/controller/api/ports/denials.ts';
import type { FlowRing } from '../flow-ring.ts';
import type { Peers } from '../peers.ts';

/** Without a packet for so long the next one begins another record. */
const IDLE_MS = 60_000;
/** A socket of this node is heard of a second after its first packet at the latest, and its events are read four times a second. */
const SOCKET_MS = 1_500;
/** The record of a socket that gets no answer changes once a minute; a client of TCP that gets none sends again after a minute at the latest. */
const LOOK_BACK_MS = 120_000;
/** Ends with a record; more replace all. */
const MAX_KNOWN = 1_000;
const MAX_WAITING = 1_000;

export const DENIED_BY_VPP = 'an ACL of VPP has denied its packets';

export interface DeniedFlowsDeps {
  /** Name of this node. */
  readonly label: string;
  readonly peers: Peers;
  readonly ring: FlowRing;
  readonly clock: Clock;
  readonly onChange: (flow: Flow, before: Flow | undefined) => void;
}

/** All packets of a client to the port of a server. */
interface Denied {
  readonly packet: DeniedPacket;
  readonly client: PacketEnd;
  readonly server: PacketEnd;
  readonly ends: string;
}

/**
 * Records of packets that VPP has denied and no socket of this node has sent: from outside, from other nodes, of pods without
 * sockets of this kernel.
 */
export class DeniedFlows {
  readonly #deps: DeniedFlowsDeps;
  /** IDs of records by their ends. */
  readonly #known = new Map<string, string>();
  /** Those of clients of this node, until their sockets may be known; the oldest first. */
  #waiting: { readonly since: number; readonly denied: Denied }[] = [];
  #count = 0;

  constructor(deps: DeniedFlowsDeps) {
    this.#deps = deps;
  }

  add(packets: readonly DeniedPacket[]): void {
    const { peers, ring, clock } = this.#deps;
    for (const packet of packets) {
      const denied = deniedOf(packet);
      if (!peers.isOfThisNode(denied.client.address)) this.#put(denied);
      else if (this.#waiting.length < MAX_WAITING)
        this.#waiting.push({ since: clock.now(), denied });
    }
    ring.notify();
  }

  /** Records those of clients that no socket has reported. */
  settle(): void {
    const { ring, clock } = this.#deps;
    const now = clock.now();
    const due = this.#waiting.findIndex(({ since }) => now - since < SOCKET_MS);
    const settled = this.#waiting.splice(0, due < 0 ? this.#waiting.length : due);
    if (settled.length === 0) return;
    const bySockets = this.#seenBySockets(settled[0]!.since - LOOK_BACK_MS);
    for (const { denied } of settled) if (!bySockets.has(denied.ends)) this.#put(denied);
    ring.notify();
  }

  /** Whether VPP has denied packets of these ends lately, which have a record. */
  has(protocol: Flow['protocol'], client: PacketEnd, server: PacketEnd): boolean {
    const { ring, clock } = this.#deps;
    const id = this.#known.get(endsOf(protocol, client, server));
    const record = id === undefined ? undefined : ring.get(id);
    return record !== undefined && clock.now() - record.changedAt < LOOK_BACK_MS;
  }

  /** Ends of what sockets have reported since then. All records are looked at, which the allowance of the sampler makes rare. */
  #seenBySockets(since: number): ReadonlySet<string> {
    const found = this.#deps.ring.newest(
      this.#deps.ring.capacity,
      ({ flow, changedAt }) => changedAt >= since && flow.seenBy !== 'vpp',
    );
    return new Set(
      found.map(({ flow: { protocol, client, server } }) => endsOf(protocol, client, server)),
    );
  }

  #put({ packet, client, server, ends }: Denied): void {
    const { ring, onChange } = this.#deps;
    const id = this.#known.get(ends);
    const record = id === undefined ? undefined : ring.get(id);
    const isSame = record !== undefined && packet.time - record.changedAt < IDLE_MS;
    const before = isSame ? record.flow : undefined;
    const flow = {
      ...(before ?? this.#begun(packet, client, server)),
      ended: rfc3339(packet.time),
    };
    if (this.#known.size >= MAX_KNOWN) this.#known.clear();
    this.#known.set(ends, flow.id);
    ring.put({ flow, changedAt: packet.time });
    onChange(flow, before);
  }

  #begun({ time, protocol }: DeniedPacket, client: PacketEnd, server: PacketEnd): Flow {
    const { label, peers } = this.#deps;
    const { port } = server;
    const of = peers.find(client.address, undefined);
    const to = peers.find(server.address, { protocol, port });
    return {
      id: `vpp-${Math.round(time)}-${++this.#count}`,
      node: label,
      seenBy: 'vpp',
      side: peers.isOfThisNode(client.address) ? 'client' : 'server',
      time: rfc3339(time),
      protocol,
      verdict: 'denied',
      reason: DENIED_BY_VPP,
      client: peers.end(client.address, client.port, of, false),
      server: peers.end(server.address, port, to, true),
      clientBytes: 0,
      serverBytes: 0,
      rttUs: 0,
      retransmissions: 0,
      stalledMs: 0,
    };
  }
}

function deniedOf(packet: DeniedPacket): Denied {
  const { source, destination, protocol, isAnswer } = packet;
  const [client, server] = isAnswer ? [destination, source] : [source, destination];
  return { packet, client, server, ends: endsOf(protocol, client, server) };
}

function endsOf(
  protocol: Flow['protocol'],
  client: Pick<FlowEnd, 'address'>,
  server: Pick<FlowEnd, 'address' | 'port'>,
): string {
  return `${protocol} ${client.address} ${server.address} ${server.port}`;
}
