/** REST: drawing of the graph. */
import type { Clock } from '#infra/clock/clock.ts';
import { Slices } from '#infra/clock/slices.ts';
import {
  argument,
  BadRequestError,
  integerArgument,
  NotFoundError,
  type Route,
  type RouteRequest,
  type RouteResponse,
} from '#infra/http/route.ts';
import { streamedText } from '#infra/http/streamed.ts';
import type { RecordedTxn } from '../history/record.ts';
import { microsOf } from '../history/time.ts';
import { snapshot } from '../history/timeline/queries.ts';
import type { Scheduler } from '../scheduler.ts';
import { allowOnly, choiceArgument } from './arguments.ts';
import { dotPieces } from './drawing/dot.ts';
import { Drawer } from './drawing/drawer.ts';
import { type Neighborhood, neighborhood } from './drawing/neighborhood.ts';

const formats = ['svg', 'dot', 'raw'] as const;

export function graphRoutes(scheduler: Scheduler, clock: Clock): Route[] {
  const drawer = new Drawer(clock);
  return [
    {
      method: 'GET',
      path: '/scheduler/graph',
      mutating: false,
      summary:
        'picture of the graph, now or after a transaction: txn, key | prefix, neighbors, format=svg|dot|raw',
      query: {
        txn: { description: 'the graph after this transaction; default: now' },
        format: { description: 'default: svg', choices: formats },
        key: { description: 'only this value and its neighbors' },
        prefix: { description: 'only values with this prefix, and their neighbors' },
        neighbors: { description: 'number of relations to follow; default: 1' },
      },
      replyTypes: ['image/svg+xml', 'text/vnd.graphviz'],
      handle: (request) => picture(scheduler, clock, drawer, request),
    },
  ];
}

async function picture(
  scheduler: Scheduler,
  clock: Clock,
  drawer: Drawer,
  request: RouteRequest,
): Promise<RouteResponse> {
  allowOnly(request, ['txn', 'format', 'key', 'prefix', 'neighbors']);
  const part = partOf(request);
  const format = choiceArgument(request, 'format', formats) ?? 'svg';
  const seqNum = integerArgument(request, 'txn');
  const { timeline } = scheduler;
  let record: RecordedTxn | undefined;
  let time = timeline.now;
  if (seqNum !== undefined) {
    record = scheduler.record(seqNum);
    if (!record) throw new NotFoundError('transaction with such sequence number is not recorded');
    time = microsOf(record.Stop) ?? time;
    if (!timeline.covers(time))
      throw new NotFoundError('the graph of that transaction has expired');
  }
  const slices = new Slices(clock);
  const describe = async (): Promise<Iterable<string>> => {
    const all = [...(await snapshot(timeline, time, slices))];
    const nodes = part ? await neighborhood(all, part, slices) : all;
    if (part && nodes.length === 0) throw new NotFoundError('no value of the graph has such a key');
    return dotPieces(nodes, record, slices);
  };
  if (format !== 'svg') {
    return streamedText(await describe(), clock, 'text/vnd.graphviz; charset=utf-8');
  }
  const svg = await drawer.draw(async () => joined(await describe(), slices));
  return { status: 200, body: svg, contentType: 'image/svg+xml' };
}

async function joined(pieces: Iterable<string>, slices: Slices): Promise<string> {
  let text = '';
  for (const piece of pieces) {
    if (slices.due()) await slices.turn();
    text += piece;
  }
  return text;
}

/** @returns undefined for the whole graph */
function partOf(request: RouteRequest): Neighborhood | undefined {
  const key = argument(request, 'key');
  const prefix = argument(request, 'prefix');
  const hops = integerArgument(request, 'neighbors');
  if (key === '' || prefix === '') throw new BadRequestError('key or prefix is empty');
  if (key !== undefined && prefix !== undefined)
    throw new BadRequestError('key cannot be combined with prefix');
  if (key !== undefined || prefix !== undefined) return { key, prefix, hops: hops ?? 1 };
  if (hops !== undefined) throw new BadRequestError('neighbors requires key or prefix');
  return undefined;
}
