/** `GET /trace/pair`: the way of a packet through this node, and that of its reply. */
import type { OneWay, PairTrace as PairTraceDocument, TracedEnd } from '#documents/pair-trace.ts';
import type { PairTrace, TracedPath } from '#packet-trace/pair-trace.ts';
import type { PacketTrace } from '#packet-trace/tracer.ts';
import { nodeOfAddress, type TraceEnd, type TraceEndsDeps } from './trace-ends.ts';

/** A service may have 254 backends, and each is a path. */
const MAX_PATHS = 50;

export interface AskedTrace {
  readonly node: string;
  readonly view: PairTraceDocument['view'];
  readonly from: TraceEnd;
  readonly to: TraceEnd;
}

export function pairTraceDocument(
  deps: TraceEndsDeps,
  { node, view, from, to }: AskedTrace,
  { packet, paths, isDelivered }: PairTrace,
): PairTraceDocument {
  const { source, destination, protocol = null } = packet;
  const { sourcePort = null, destinationPort = null } = packet;
  const isFailed = paths.some((one) => !isDeliveredOrLeft(one));
  return {
    node,
    view,
    from: endDocument(from),
    to: endDocument(to),
    packet: { source, destination, protocol, sourcePort, destinationPort },
    verdict: isDelivered ? 'delivered' : isFailed ? 'failed' : 'continues',
    paths: paths.slice(0, MAX_PATHS).map(({ share, trace, reply }) => ({
      share,
      trace: oneWayDocument(deps, trace),
      reply: reply ? oneWayDocument(deps, reply) : null,
    })),
    omittedPaths: Math.max(0, paths.length - MAX_PATHS),
    command: traceCommand({ from, to, view }, packet),
  };
}

function endDocument({ name, kind, address }: TraceEnd): TracedEnd {
  return { name, kind, address };
}

function isDeliveredOrLeft({ trace, reply }: TracedPath): boolean {
  return (reply ?? trace).verdict === 'delivered' || (reply ?? trace).verdict === 'left';
}

function oneWayDocument(deps: TraceEndsDeps, { verdict, hops, packet }: PacketTrace): OneWay {
  const left = verdict === 'left' ? packet.destination : undefined;
  const found = left === undefined ? undefined : nodeOfAddress(deps, left);
  return {
    verdict,
    hops: hops.map(({ device, description, key }) => ({ device, description, key })),
    continuesOn:
      left === undefined
        ? null
        : {
            node: found?.node.name ?? '',
            address: found?.address ?? left,
            isTunnel: 'inner' in packet && packet.inner !== undefined,
          },
  };
}

/** For the terminal of an operator: netctl asks all nodes. */
export function traceCommand(
  { from, to, view }: Pick<AskedTrace, 'from' | 'to' | 'view'>,
  { protocol, destinationPort, sourcePort }: PairTrace['packet'],
): string {
  // netctl knows no names of services
  const ends = [from.name, to.kind === 'service' ? to.address : to.name];
  const port =
    protocol === undefined
      ? []
      : ['--to-port', protocol === 'ICMP' ? 'ICMP' : `${protocol}/${destinationPort}`];
  const own =
    protocol === undefined || protocol === 'ICMP' || sourcePort === DEFAULT_SOURCE_PORT
      ? []
      : ['--from-port', String(sourcePort)];
  return ['netctl trace', ...ends, ...port, ...own, ...(view === 'NB' ? ['--desired'] : [])].join(
    ' ',
  );
}

const DEFAULT_SOURCE_PORT = 49_152;
