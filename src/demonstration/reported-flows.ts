import type { Clock, Random } from '#infra/clock/clock.ts';
import type { ConnectionEnd, ConnectionEvent } from '#linux/socket-flows/api.ts';
import type { Packet } from '#packet-trace/packet.ts';
import type { SimFlowSource } from '#simulator/linux/flow-source.ts';

/** A connection of the simulated traffic, or an attempt. */
export interface SimulatedConnection {
  /** Device of the client. */
  readonly client: string;
  /** As the client has sent it. */
  readonly first: Packet;
  /** Device of the server, and the packet as it has received it; undefined: there was no answer. */
  readonly answered: { readonly server: string; readonly packet: Packet } | undefined;
  readonly sent: number;
  readonly received: number;
}

export interface FlowNode {
  readonly name: string;
  readonly flowSource: Pick<SimFlowSource, 'push'>;
}

/** Milliseconds; a client that gets no answer repeats its first packet after the first, and gives up after the second. */
const LONGEST_MS = 400;
const REPEATED_MS = 1_000;
const GIVEN_UP_MS = 3_000;
const DATAGRAM_BYTES = 1_000;
const MIN_RTT_US = 80;
const RTT_RANGE_US = 900;

/** Reports simulated connections to the nodes that have the sockets of their ends, as a kernel does. */
export class ReportedFlows {
  readonly #nodes: readonly FlowNode[];
  readonly #clock: Clock;
  readonly #random: Random;
  #count = 0;

  constructor(nodes: readonly FlowNode[], clock: Clock, random: Random) {
    this.#nodes = nodes;
    this.#clock = clock;
    this.#random = random;
  }

  report(connection: SimulatedConnection): void {
    const { client, first, answered, sent, received } = connection;
    const { protocol } = first;
    if (protocol !== 'TCP' && protocol !== 'UDP') return;
    const now = this.#clock.now();
    const duration = 1 + Math.floor(this.#random.next() * LONGEST_MS);
    const measuredUs = MIN_RTT_US + Math.floor(this.#random.next() * RTT_RANGE_US);
    const rttUs = protocol === 'TCP' ? measuredUs : 0;
    const datagrams = (side: 'client' | 'server', own: number, other: number) =>
      protocol === 'UDP' && {
        datagrams: {
          sent: Math.ceil(own / DATAGRAM_BYTES),
          received: Math.ceil(other / DATAGRAM_BYTES),
          sockets: side === 'client' ? 1 : 0,
        },
      };
    const closed = { outcome: 'closed', rttUs, retransmissions: 0 } as const;
    if (!answered) {
      const one = this.#end(client, first, 'client', now - GIVEN_UP_MS);
      const none = { outcome: 'unanswered', sent: 0, received: 0, rttUs: 0 } as const;
      this.#push(client, [
        { ...one, kind: 'unanswered', time: one.begun + REPEATED_MS },
        {
          ...one,
          kind: 'ended',
          time: now,
          ...none,
          retransmissions: protocol === 'TCP' ? 1 : 0,
          ...datagrams('client', sent, received),
        },
      ]);
      return;
    }
    const { server, packet } = answered;
    for (const [device, seen, side] of [
      [client, first, 'client'],
      [server, packet, 'server'],
    ] as const) {
      const one = this.#end(device, seen, side, now - duration);
      const bytes = side === 'client' ? { sent, received } : { sent: received, received: sent };
      this.#push(device, [
        { ...one, kind: 'opened', time: one.begun },
        {
          ...one,
          kind: 'ended',
          time: now,
          ...closed,
          ...bytes,
          ...datagrams(side, bytes.sent, bytes.received),
        },
      ]);
    }
  }

  #end(device: string, packet: Packet, side: 'client' | 'server', begun: number) {
    const protocol = packet.protocol === 'UDP' ? ('UDP' as const) : ('TCP' as const);
    const source = endOf(packet.source, packet.sourcePort);
    const destination = endOf(packet.destination, packet.destinationPort);
    const [local, remote] = side === 'client' ? [source, destination] : [destination, source];
    const id = `simulated-${++this.#count}`;
    const isOfHost = device.endsWith('/host');
    return { id, protocol, begun, side, isOfHost, local, remote, service: undefined };
  }

  /** Devices outside of the nodes have no kernel. */
  #push(device: string, events: readonly ConnectionEvent[]): void {
    const node = this.#nodes.find(({ name }) => device.startsWith(`${name}/`));
    node?.flowSource.push(...events);
  }
}

function endOf(address: string, port = 0): ConnectionEnd {
  return { address, port };
}
