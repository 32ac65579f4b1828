/** REST of flows: as a document, and as an event stream. */
import {
  type Flow,
  FlowsDocument,
  flowProtocols,
  flowVerdicts,
  TalkingWorkloads,
} from '#documents/flows.ts';
import type { Clock } from '#infra/clock/clock.ts';
import { rfc3339 } from '#infra/clock/rfc3339.ts';
import { Slices } from '#infra/clock/slices.ts';
import { EventStreams, type StreamedMessages } from '#infra/http/event-stream.ts';
import {
  argument,
  BadRequestError,
  integerArgument,
  type QueryArgument,
  type Route,
  type RouteRequest,
} from '#infra/http/route.ts';
import { streamedJson } from '#infra/http/streamed.ts';
import { TIME_ARGUMENT, timeArgument } from '#infra/http/time-argument.ts';
import type { DenialSampler } from './denials/denial-sampler.ts';
import { type FlowFilter, flowFilter } from './filter.ts';
import type { FlowReader } from './flow-reader.ts';
import type { FlowRing } from './flow-ring.ts';
import type { ProbeReader } from './probe/probe-reader.ts';
import { talkingPairs } from './talking-workloads.ts';

export interface FlowRoutesDeps {
  readonly label: string;
  readonly ring: FlowRing;
  /** undefined: nothing is recorded. */
  readonly reader: Pick<FlowReader, 'lost' | 'displaced' | 'faultSince'> | undefined;
  /** undefined: not counted. */
  readonly sampler: Pick<DenialSampler, 'denied' | 'sampled'> | undefined;
  /** undefined: VPP is simulated, or nothing is recorded. */
  readonly prober: Pick<ProbeReader, 'interfaces' | 'lost' | 'refused'> | undefined;
  readonly clock: Clock;
}

const DEFAULT_LAST = 1_000;
const DEFAULT_PAIRS = 100;
/** Records of one message; each may have 1 KiB. */
const MAX_OF_MESSAGE = 50;
/** Records that are looked at for one message, so that a filter that nothing matches takes no time. */
const MAX_LOOKED_AT = 5_000;

const filterArguments: Readonly<Record<string, QueryArgument>> = {
  pod: {
    description:
      'only flows with this client or server: namespace/name of a pod, workload or service, the name of a node, or an address',
  },
  from: { description: 'only flows with this client, named as for pod' },
  to: { description: 'only flows with this server or service, named as for pod' },
  verdict: {
    description: 'only flows with this verdict',
    choices: flowVerdicts,
    isRepeatable: true,
  },
  protocol: { description: 'only flows of this protocol', choices: flowProtocols },
  port: { description: 'only flows to this port of the server or the service' },
  since: { description: `only flows that have changed since then: ${TIME_ARGUMENT}` },
};

export function flowRoutes(deps: FlowRoutesDeps): Route[] {
  const { label, ring, clock } = deps;
  const streams = new EventStreams(clock, 'flows');
  const started = Math.floor(clock.now());

  /**
   * An ID is `<start of the agent>-<number of the change>`: of an agent that was restarted everything is new.
   * @throws BadRequestError
   */
  function nextAfter(id: string | undefined): number {
    if (id === undefined) return ring.next;
    const [, start, number] = /^(\d{1,15})-(\d{1,15})$/.exec(id) ?? [];
    if (number === undefined)
      throw new BadRequestError(`argument after="${id}" must be the id of a message`);
    return Number(start) === started ? Number(number) + 1 : 0;
  }

  /** Each message has some records; one that has changed twice since is sent once. */
  function messagesFrom(first: number, isWanted: FlowFilter): StreamedMessages {
    let next = first;
    const id = (): string => (next > 0 ? `id: ${started}-${next - 1}\n` : '');
    const message = (): string | undefined => {
      const found: Flow[] = [];
      let looked = 0;
      for (const [number, record] of ring.from(next)) {
        next = number + 1;
        if (isWanted(record)) found.push(record.flow);
        if (found.length === MAX_OF_MESSAGE || ++looked === MAX_LOOKED_AT) break;
      }
      if (found.length > 0) return `${id()}event: flows\ndata: ${JSON.stringify(found)}\n\n`;
      // those behind it may be wanted
      return looked === MAX_LOOKED_AT ? ':\n\n' : undefined;
    };
    const time = JSON.stringify({ Time: rfc3339(clock.now()) });
    return {
      hello: `${id()}event: connected\ndata: ${time}\n\n`,
      hasNext: () => ring.next > next,
      next: message,
      watch: (listener) => ring.watch(listener),
    };
  }

  return [
    {
      method: 'GET',
      path: '/contiv/v1/flows',
      mutating: false,
      permission: 'flows',
      summary:
        'connections of the sockets of this node, newest last: pod, from, to, protocol, port, verdict, since, last',
      query: {
        ...filterArguments,
        last: { description: `largest number of flows, the newest; default: ${DEFAULT_LAST}` },
      },
      reply: FlowsDocument,
      handle: (request) => {
        const limit = integerArgument(request, 'last') ?? DEFAULT_LAST;
        const document: FlowsDocument = {
          node: label,
          flows: ring.newest(limit, filterOf(request)).map(({ flow }) => flow),
          state: stateOf(deps),
        };
        return streamedJson(document, clock);
      },
    },
    {
      method: 'GET',
      path: '/contiv/v1/flows/workloads',
      mutating: false,
      permission: 'flows',
      summary:
        'who talks to whom by workload, of the connections in memory: pod, from, to, protocol, port, verdict, since, limit',
      query: {
        ...filterArguments,
        limit: {
          description: `largest number of pairs, those with most connections; default: ${DEFAULT_PAIRS}`,
        },
      },
      reply: TalkingWorkloads,
      handle: async (request) => {
        const limit = integerArgument(request, 'limit') ?? DEFAULT_PAIRS;
        const records = ring.newest(ring.capacity, filterOf(request));
        const flows = records.map(({ flow }) => flow);
        const pairs = await talkingPairs(flows, new Slices(clock));
        const document: TalkingWorkloads = {
          node: label,
          pairs: pairs.slice(0, limit),
          total: pairs.length,
          state: stateOf(deps),
        };
        return streamedJson(document, clock);
      },
    },
    {
      method: 'GET',
      path: '/contiv/v1/flows/events',
      mutating: false,
      permission: 'flows',
      isStream: true,
      summary:
        'flows as server-sent events, when they begin and when they change: pod, from, to, protocol, port, verdict, after',
      query: {
        ...filterArguments,
        after: { description: 'ID of the last message that is known; none: only new changes' },
      },
      replyTypes: ['text/event-stream'],
      handle: (request) => {
        const next = nextAfter(argument(request, 'after'));
        return streams.open(request, messagesFrom(next, filterOf(request)));
      },
    },
  ];
}

function stateOf({ ring, reader, sampler, prober }: FlowRoutesDeps): FlowsDocument['state'] {
  const { size: records, capacity } = ring;
  const { lost = 0, displaced = 0, faultSince } = reader ?? {};
  return {
    isRecording: reader !== undefined,
    ...(faultSince !== undefined && { notReadSince: rfc3339(faultSince) }),
    records,
    capacity,
    displaced,
    ...(sampler && { vppDenials: { packets: sampler.denied, sampled: sampler.sampled } }),
    ...(prober && {
      probe: { interfaces: prober.interfaces, lost: prober.lost, refused: prober.refused },
    }),
    lost: lost + (prober?.lost ?? 0),
  };
}

/** @throws BadRequestError */
function filterOf(request: RouteRequest): FlowFilter {
  const verdicts = request.query['verdict'] ?? [];
  for (const one of verdicts)
    if (!flowVerdicts.some((known) => known === one))
      throw new BadRequestError(`argument verdict="${one}" must be ${flowVerdicts.join(', ')}`);
  const protocols = (request.query['protocol'] ?? []).filter((one) => one !== '');
  for (const one of protocols)
    if (!flowProtocols.some((known) => known === one))
      throw new BadRequestError(`argument protocol="${one}" must be ${flowProtocols.join(', ')}`);
  const since = timeArgument(request, 'since');
  return flowFilter({
    pod: argument(request, 'pod') || undefined,
    from: argument(request, 'from') || undefined,
    to: argument(request, 'to') || undefined,
    verdicts,
    protocols,
    port: integerArgument(request, 'port'),
    since: since === undefined ? undefined : since / 1_000,
  });
}
