/** Connections as packet traces: NAT sessions are those of the simulated VPPs. */
import type { Random } from '#infra/clock/clock.ts';
import { traceBranches } from '#packet-trace/branches.ts';
import { lookUp } from '#packet-trace/fib.ts';
import { type DeviceMemory, type TraceMemory, traceMemory } from '#packet-trace/memory.ts';
import { type Packet, replyTo, type TcpFlag } from '#packet-trace/packet.ts';
import type { Snapshot } from '#packet-trace/snapshot.ts';
import { mappingOf } from '#packet-trace/sockets.ts';
import { type PacketTrace, tracePacket } from '#packet-trace/tracer.ts';
import type { Answer, Target } from '../service-cluster.ts';

/** A sender that also answers. */
export interface Station {
  /** As answers call it. */
  readonly name: string;
  /** Name of its device in the snapshot. */
  readonly device: string;
  readonly address: string;
  /** Ports at which it answers, over TCP and UDP. */
  readonly ports: ReadonlySet<number>;
}

/** The state of the cluster while packets pass. */
export interface Network {
  readonly snapshot: Snapshot;
  readonly stations: readonly Station[];
  readonly memory: TraceMemory;
}

export interface Connection {
  readonly from: Station;
  /** The first packet of the client; after the translation at its socket, as far as the connection is open. */
  readonly first: Packet;
  /** The end that the client has asked, and sees as the sender of replies. */
  readonly asked: Pick<Packet, 'destination' | 'destinationPort'>;
}

export interface Opened {
  readonly connection: Connection;
  readonly answer: Answer;
  /** The first packet at the server; absent: it reached none. */
  readonly arrived?: { readonly device: string; readonly packet: Packet };
}

/** The first port that Linux gives to clients. */
const FIRST_PORT = 32_768;

export class Traffic {
  readonly #random: Random;
  #nextPort = FIRST_PORT;

  constructor(random: Random) {
    this.#random = random;
  }

  open(network: Network, from: Station, to: Target): Opened {
    this.#nextPort = this.#nextPort < 60_999 ? this.#nextPort + 1 : FIRST_PORT;
    const first = firstPacket(network, from, to, this.#nextPort);
    const connection: Connection = { from, first, asked: first };
    const there = this.#send(network, connection, ['SYN']);
    const answer = answerTo(network, connection, there, ['SYN', 'ACK']);
    if (answer.result !== 'answered') return { connection, answer };
    const { device, packet } = there;
    const connected = afterSocket(network, connection, packet);
    this.#send(network, connected, ['ACK']);
    return { connection: connected, answer, arrived: { device, packet } };
  }

  /** Sends over an open connection. */
  continue(network: Network, connection: Connection): Answer {
    return this.#exchange(network, connection, ['ACK'], ['ACK']);
  }

  close(network: Network, connection: Connection): void {
    if (connection.first.protocol !== 'TCP') return;
    this.#exchange(network, connection, ['FIN', 'ACK'], ['FIN', 'ACK']);
    this.#send(network, connection, ['ACK']);
  }

  #exchange(
    network: Network,
    connection: Connection,
    tcpFlags: readonly TcpFlag[],
    replyFlags: readonly TcpFlag[],
  ): Answer {
    const there = this.#send(network, connection, tcpFlags);
    return answerTo(network, connection, there, replyFlags);
  }

  #send(network: Network, { from, first }: Connection, tcpFlags: readonly TcpFlag[]): PacketTrace {
    const choose = (weights: readonly number[]): number => this.#pick(weights);
    return traced(network, from.device, { ...first, tcpFlags }, choose);
  }

  #pick(weights: readonly number[]): number {
    let left = this.#random.next() * weights.reduce((sum, weight) => sum + weight, 0);
    return Math.max(
      0,
      weights.findIndex((weight) => {
        left -= weight;
        return left < 0;
      }),
    );
  }
}

/** Every answer that a client may get, whichever backend is chosen. */
export function possibleAnswers(network: Network, from: Station, to: Target): readonly Answer[] {
  const first = firstPacket(network, from, to, FIRST_PORT);
  const branches = traceBranches(network.snapshot, from.device, first, network.memory);
  return branches.map(({ trace, memory }) =>
    answerTo({ ...network, memory }, { from, first, asked: first }, trace, ['SYN', 'ACK']),
  );
}

function firstPacket(
  { snapshot }: Network,
  from: Station,
  { address, port, protocol }: Target,
  sourcePort: number,
): Packet {
  return {
    source: sourceAddress(snapshot, from, address),
    destination: address,
    protocol,
    sourcePort,
    destinationPort: port,
  };
}

/** A connected socket of a service sends to the backend that was chosen, whatever happens to the service. */
function afterSocket(
  { snapshot }: Network,
  connection: Connection,
  { destination, destinationPort }: Packet,
): Connection {
  const { first, from } = connection;
  const sockets = snapshot.devices.get(from.device)?.sockets;
  if (sockets === undefined || mappingOf(sockets, first) === undefined) return connection;
  return { ...connection, first: { ...first, destination, destinationPort } };
}

/** Traces the reply to a packet that was traced. */
function answerTo(
  network: Network,
  { from, first, asked }: Connection,
  there: PacketTrace,
  tcpFlags: readonly TcpFlag[],
): Answer {
  const { stations } = network;
  if (there.verdict === 'refused') return { result: 'refused' };
  const server = stations.find(({ device }) => device === there.device);
  if (there.verdict !== 'delivered' || server === undefined) return { result: 'timeout' };
  const { destinationPort = 0, source } = there.packet;
  const isServed = server.ports.has(destinationPort);
  const reply: Packet = {
    ...replyTo(there.packet),
    tcpFlags: isServed ? tcpFlags : ['RST', 'ACK'],
  };
  const back = traced(network, there.device, reply);
  const isReply =
    back.verdict === 'delivered' &&
    back.device === from.device &&
    // the sockets of a network that was read again do not know what was asked
    [asked, first].some(
      ({ destination, destinationPort: port }) =>
        back.packet.source === destination && back.packet.sourcePort === port,
    ) &&
    back.packet.destinationPort === first.sourcePort;
  if (!isReply) return { result: 'timeout' };
  if (!isServed) return { result: 'refused' };
  const { name } = server;
  return { result: 'answered', backend: name, backendPort: destinationPort, client: source };
}

/** Hosts have a network of their own, of which VPP knows nothing: their packets there have the address of the host. */
function traced(
  { snapshot, memory, stations }: Network,
  device: string,
  packet: Packet,
  choose?: (weights: readonly number[]) => number,
): PacketTrace {
  const options = { memory, ...(choose && { choose }) };
  const trace = tracePacket(snapshot, device, packet, options);
  if (trace.verdict !== 'left') return trace;
  const sender = stations.find((one) => one.device === device);
  const receiver = stations.find(({ address }) => address === trace.packet.destination);
  if (!sender?.device.endsWith('/host') || !receiver?.device.endsWith('/host')) return trace;
  const sent = { ...trace.packet, source: sender.address };
  return tracePacket(snapshot, receiver.device, sent, options);
}

/** The address that Linux chooses: that of the interface by which the packet leaves. */
function sourceAddress(snapshot: Snapshot, { device, address }: Station, to: string): string {
  const found = snapshot.devices.get(device);
  const action = found && lookUp(found, 0, to)?.action;
  if (found === undefined || action?.kind !== 'via') return address;
  const [first] = found.interfaces.get(action.interface)?.addresses ?? [];
  return first?.replace(/\/.*/, '') ?? address;
}

/** @param vpps by the name of the device */
export function memoryOf(vpps: ReadonlyMap<string, DeviceMemory>): TraceMemory {
  const others = traceMemory();
  return (device) => vpps.get(device) ?? others(device);
}
