/** REST: the graph at any time. */
import { FlagStats, flagNames, GraphSnapshot, KeyTimeline } from '#documents/scheduler/timeline.ts';
import type { Clock } from '#infra/clock/clock.ts';
import { Slices } from '#infra/clock/slices.ts';
import {
  argument,
  BadRequestError,
  integerArgument,
  json,
  NotFoundError,
  type Route,
  type RouteRequest,
  type RouteResponse,
} from '#infra/http/route.ts';
import { streamedJson, streamedList } from '#infra/http/streamed.ts';
import { TIME_ARGUMENT, timeArgument } from '#infra/http/time-argument.ts';
import {
  flagStats,
  keyAt,
  keyTimeline,
  lastRevisions,
  snapshot,
} from '../history/timeline/queries.ts';
import type { Scheduler } from '../scheduler.ts';
import { allowOnly, choiceArgument } from './arguments.ts';

const EXPIRED = 'the graph of that time has expired';

export function timelineRoutes({ timeline }: Scheduler, clock: Clock): Route[] {
  const keyRevisions = async (request: RouteRequest): Promise<RouteResponse> => {
    allowOnly(request, ['key', 'time', 'last']);
    const key = argument(request, 'key');
    const time = timeArgument(request, 'time');
    const last = integerArgument(request, 'last');
    if (!key)
      throw new BadRequestError('argument key is missing: a key without the prefix of the agent');
    if (last !== undefined && time !== undefined)
      throw new BadRequestError('last cannot be combined with time');
    if (last !== undefined) return streamedList(lastRevisions(timeline, key, last), clock);
    const slices = new Slices(clock);
    if (time === undefined) return streamedList(await keyTimeline(timeline, key, slices), clock);
    const node = await keyAt(timeline, key, time, slices);
    if (!node && !timeline.covers(time)) throw new NotFoundError(EXPIRED);
    return streamedJson(node ?? null, clock);
  };
  const snapshotAt = async (request: RouteRequest): Promise<RouteResponse> => {
    allowOnly(request, ['time']);
    const time = timeArgument(request, 'time') ?? timeline.now;
    if (!timeline.covers(time)) throw new NotFoundError(EXPIRED);
    return streamedList(await snapshot(timeline, time, new Slices(clock)), clock);
  };
  return [
    {
      method: 'GET',
      path: '/scheduler/key-timeline',
      mutating: false,
      summary: 'a value over time, or at one time: key, time | last',
      query: {
        key: { description: 'key of the value, without the prefix of the agent', isRequired: true },
        time: { description: `only the value at this time; ${TIME_ARGUMENT}` },
        last: { description: 'only so many of its last revisions, without its relations' },
      },
      reply: KeyTimeline,
      handle: keyRevisions,
    },
    {
      method: 'GET',
      path: '/scheduler/graph-snapshot',
      mutating: false,
      summary: 'the graph at one time: time; default: now',
      query: { time: { description: `${TIME_ARGUMENT}; default: now` } },
      reply: GraphSnapshot,
      handle: snapshotAt,
    },
    {
      method: 'GET',
      path: '/scheduler/graph-snaphost',
      mutating: false,
      summary: 'graph-snapshot with the spelling of older documents',
      query: { time: { description: `${TIME_ARGUMENT}; default: now` } },
      reply: GraphSnapshot,
      handle: snapshotAt,
    },
    {
      method: 'GET',
      path: '/scheduler/flag-stats',
      mutating: false,
      summary: 'counts of the values of a flag of the graph: flag, prefix (repeatable)',
      query: {
        flag: { description: 'name of the flag', choices: flagNames, isRequired: true },
        prefix: { description: 'prefix of the keys to count', isRepeatable: true },
      },
      reply: FlagStats,
      handle: async (request) => {
        allowOnly(request, ['flag', 'prefix'], ['prefix']);
        const flag = choiceArgument(request, 'flag', flagNames);
        if (!flag)
          throw new BadRequestError(`argument flag is missing: one of ${flagNames.join(', ')}`);
        const prefixes = request.query['prefix'] ?? [];
        return json(await flagStats(timeline, flag, prefixes, new Slices(clock)));
      },
    },
  ];
}
