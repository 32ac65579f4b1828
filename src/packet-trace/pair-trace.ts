/** Traces packets between two ends, on all ways that they can take, and the replies. */
import { traceBranches } from './branches.ts';
import { clusterSnapshot, deviceByAddress } from './cluster.ts';
import { type NodeSnapshot, nodeValues } from './node-document.ts';
import { type Packet, type Protocol, replyTo } from './packet.ts';
import { traceText } from './trace-text.ts';
import { type PacketTrace, tracePacket } from './tracer.ts';

/** A traced packet without its addresses. */
export interface TracedPorts {
  /** Undefined: only addresses are traced, without NAT. */
  readonly protocol: Protocol | undefined;
  readonly port: number | undefined;
  readonly sourcePort: number | undefined;
}

export interface PairTrace {
  readonly packet: Packet;
  /** One for each backend of a service that may be chosen. */
  readonly paths: readonly TracedPath[];
  /** Whether packet and reply arrive on all paths. */
  readonly isDelivered: boolean;
}

export interface TracedPath {
  /** Of all connections; the shares of all paths add up to 1. */
  readonly share: number;
  readonly trace: PacketTrace;
  /** Undefined: the packet is not delivered. */
  readonly reply: PacketTrace | undefined;
}

/** Of the ports that clients use. */
const SOURCE_PORT = 49_152;

/** @returns undefined: no node has the address of the source */
export function tracePair(
  nodes: readonly NodeSnapshot[],
  source: string,
  destination: string,
  ports: TracedPorts,
): PairTrace | undefined {
  const snapshot = clusterSnapshot({ nodes: nodes.map(nodeValues) });
  const start = deviceByAddress(snapshot, source);
  if (start === undefined) return undefined;
  const packet = packetOf(ports, source, destination);
  const paths = traceBranches(snapshot, start, packet).map(({ share, trace, memory }) => ({
    share,
    trace,
    reply:
      trace.verdict === 'delivered'
        ? tracePacket(snapshot, trace.device, replyTo(trace.packet), { memory })
        : undefined,
  }));
  return { packet, paths, isDelivered: paths.every(({ reply }) => reply?.verdict === 'delivered') };
}

/** The address of a pod `<namespace>/<name>`; undefined: it is attached to none of the nodes. */
export function podAddress(nodes: readonly NodeSnapshot[], pod: string): string | undefined {
  for (const { pods } of nodes) {
    const address = pods[pod];
    if (address !== undefined) return address;
  }
  return undefined;
}

/** @param from how the user has named the source */
export function pairTraceText(from: string, to: string, { packet, paths }: PairTrace): string {
  const { source, destination } = packet;
  const lines = [`${from} (${source}) to ${to} (${destination})${portText(packet)}\n`];
  for (const [place, { share, trace, reply }] of paths.entries()) {
    const of = `${place + 1} of ${paths.length}, ${(share * 100).toFixed(1)} % of connections`;
    lines.push(`${paths.length > 1 ? `path ${of}\n` : ''}${traceText(trace)}`);
    if (reply) lines.push(`reply\n${traceText(reply)}`);
  }
  return lines.join('');
}

function packetOf(
  { protocol, port, sourcePort = SOURCE_PORT }: TracedPorts,
  source: string,
  destination: string,
): Packet {
  if (protocol === undefined) return { source, destination };
  const destinationPort = protocol === 'ICMP' ? sourcePort : port;
  return { source, destination, protocol, sourcePort, destinationPort };
}

function portText({ protocol, destinationPort }: Packet): string {
  if (protocol === undefined) return '';
  return protocol === 'ICMP' ? ', ICMP echo' : `, ${protocol} port ${destinationPort}`;
}
