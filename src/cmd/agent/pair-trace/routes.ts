/** `GET /trace/pair`: traces a packet through this node, for the web page. */
import { PairTrace } from '#documents/pair-trace.ts';
import type { Clock } from '#infra/clock/clock.ts';
import {
  argument,
  BadRequestError,
  json,
  NotFoundError,
  type Route,
  type RouteRequest,
  type RouteResponse,
} from '#infra/http/route.ts';
import type { NodeSnapshot } from '#packet-trace/node-document.ts';
import type { Protocol } from '#packet-trace/packet.ts';
import type { TracedPorts } from '#packet-trace/pair-trace.ts';
import { tracedView } from '../node-snapshot.ts';
import { pairTraceDocument } from './pair-document.ts';
import { PairTracer } from './pair-tracer.ts';
import { nodeOfAddress, type TraceEnd, type TraceEndsDeps, traceEnd } from './trace-ends.ts';

export interface PairTraceRoutesDeps extends TraceEndsDeps {
  /** Name of this node. */
  readonly label: string;
  readonly readSnapshot: (view: 'SB' | 'NB') => Promise<NodeSnapshot>;
  readonly clock: Clock;
}

export function pairTraceRoutes(deps: PairTraceRoutesDeps): Route[] {
  const tracer = new PairTracer(deps.clock);
  return [
    {
      method: 'GET',
      path: '/trace/pair',
      mutating: false,
      summary:
        'the way of a packet from a pod of this node, and of its reply: from, to, to-port, from-port, view=SB|NB',
      query: {
        from: {
          description: 'pod of this node as namespace/name, or its address',
          isRequired: true,
        },
        to: { description: 'pod or service as namespace/name, or an address', isRequired: true },
        'to-port': {
          description:
            '80, UDP/53 or ICMP; default: the port of a service with one port, else only addresses are traced',
        },
        'from-port': { description: 'port of the source, default 49152' },
        view: {
          description: 'SB, the actual state (default), or NB, the desired',
          choices: ['SB', 'NB'],
        },
      },
      reply: PairTrace,
      handle: (request) => tracePair(deps, tracer, request),
    },
  ];
}

async function tracePair(
  deps: PairTraceRoutesDeps,
  tracer: PairTracer,
  request: RouteRequest,
): Promise<RouteResponse> {
  const view = tracedView(argument(request, 'view') || 'SB');
  const [source, destination] = [required(request, 'from'), required(request, 'to')];
  const given = givenPorts(request);
  const from = traceEnd(deps, source);
  if (from === undefined || from.kind === 'service')
    throw new NotFoundError(`no pod with an address has the name ${source}`);
  const to = traceEnd(deps, destination);
  if (to === undefined)
    throw new NotFoundError(`no pod and no service with an address has the name ${destination}`);
  const ports = given.protocol === undefined ? withServicePort(given, to) : given;
  const traced = await tracer.trace(async () => ({
    node: await deps.readSnapshot(view),
    source: from.address,
    destination: to.address,
    ports,
  }));
  if (traced === undefined) throw new NotFoundError(notHere(deps, from));
  return json(pairTraceDocument(deps, { node: deps.label, view, from, to }, traced));
}

function notHere(deps: PairTraceRoutesDeps, { name, address }: TraceEnd): string {
  const node = nodeOfAddress(deps, address)?.node.name;
  const where = node === undefined || node === deps.label ? 'another node' : `node ${node}`;
  return `${name} is on ${where}: ask the agent there, or use netctl trace`;
}

function required(request: RouteRequest, name: string): string {
  const text = argument(request, name);
  if (text) return text;
  throw new BadRequestError(`argument ${name} is missing: a pod as namespace/name, or an address`);
}

const protocols: readonly Protocol[] = ['TCP', 'UDP', 'ICMP'];

/** @throws BadRequestError */
function givenPorts(request: RouteRequest): TracedPorts {
  const text = argument(request, 'to-port') ?? '';
  const source = argument(request, 'from-port') || undefined;
  const sourcePort = source === undefined ? undefined : portNumber('from-port', source);
  if (text === '') return { protocol: undefined, port: undefined, sourcePort };
  const [, name = 'TCP', number] = /^(?:([a-z]+)(?:\/|$))?(\d+)?$/i.exec(text) ?? [];
  const protocol = protocols.find((one) => one === name.toUpperCase());
  if (protocol === 'ICMP' && number === undefined) return { protocol, port: undefined, sourcePort };
  if (protocol === undefined || protocol === 'ICMP' || number === undefined)
    throw new BadRequestError(`argument to-port="${text}" has to be such as 80, UDP/53 or ICMP`);
  return { protocol, port: portNumber('to-port', number), sourcePort };
}

function portNumber(name: string, text: string): number {
  const port = Number(text);
  if (/^\d{1,5}$/.test(text) && port >= 1 && port <= 65_535) return port;
  throw new BadRequestError(`argument ${name}="${text}" has to be a port from 1 to 65535`);
}

/** NAT translates only packets with ports. @throws BadRequestError */
function withServicePort(given: TracedPorts, { name, kind, ports }: TraceEnd): TracedPorts {
  const [first, ...others] = ports;
  if (kind !== 'service' || first === undefined) return given;
  if (others.length === 0) return { ...given, ...first };
  const list = ports.map(({ protocol, port }) => `${protocol}/${port}`).join(', ');
  throw new BadRequestError(`argument to-port is missing: service ${name} has ${list}`);
}
