/** REST of the scheduler: what is wished, known and found, and what was done to get there. */
import {
  argument,
  ErrBadRequest,
  failure,
  integerArgument,
  json,
  type Route,
  type RouteRequest,
  type RouteResponse,
} from '#infra/http/route.ts';
import type { DumpSelector, View } from './dump.ts';
import { ErrUnknownDescriptor } from './errors.ts';
import type { Scheduler } from './scheduler.ts';

const views: readonly View[] = ['SB', 'NB', 'cached'];
/** Times are nanoseconds, as the Go agent has them. */
const NANOSECONDS_A_MS = 1e6;

export function schedulerRoutes(scheduler: Scheduler): Route[] {
  return [
    {
      method: 'GET',
      path: '/scheduler/dump',
      mutating: false,
      summary: 'values of a descriptor: descriptor | key-prefix, view=SB|NB|cached; without: index',
      handle: (request) => dump(scheduler, request),
    },
    {
      method: 'GET',
      path: '/scheduler/status',
      mutating: false,
      summary: 'state of values: key | descriptor | key-prefix; without: all',
      handle: (request) => status(scheduler, request),
    },
    {
      method: 'GET',
      path: '/scheduler/txn-history',
      mutating: false,
      summary: 'records of transactions: seq-num | since, until (Unix ns)',
      handle: (request) => history(scheduler, request),
    },
  ];
}

/** @throws ErrBadRequest when both are given */
function selectorOf(request: RouteRequest): DumpSelector | undefined {
  const descriptor = argument(request, 'descriptor');
  const keyPrefix = argument(request, 'key-prefix');
  if (descriptor !== undefined && keyPrefix !== undefined)
    throw new ErrBadRequest('descriptor and key-prefix do not go together');
  if (descriptor !== undefined) return { descriptor };
  return keyPrefix === undefined ? undefined : { keyPrefix };
}

async function dump(scheduler: Scheduler, request: RouteRequest): Promise<RouteResponse> {
  const selector = selectorOf(request);
  if (!selector)
    return json({
      Descriptors: scheduler.descriptors.map(({ name }) => name),
      KeyPrefixes: scheduler.descriptors.flatMap(({ nbKeyPrefix }) => nbKeyPrefix ?? []),
      Views: views,
    });
  const wanted = argument(request, 'view') ?? 'SB';
  const view = views.find((name) => name === wanted);
  if (!view) throw new ErrBadRequest(`view "${wanted}" has to be one of ${views.join(', ')}`);
  try {
    return json(await scheduler.dump(view, selector));
  } catch (error) {
    if (error instanceof ErrUnknownDescriptor) return failure(404, error.message);
    throw error;
  }
}

function status(scheduler: Scheduler, request: RouteRequest): RouteResponse {
  const key = argument(request, 'key');
  if (key !== undefined) return json(scheduler.status(key));
  const selector = selectorOf(request);
  if (!selector) return json(scheduler.statuses());
  if ('keyPrefix' in selector) return json(scheduler.statuses(selector.keyPrefix));
  const found = scheduler.descriptors.find(({ name }) => name === selector.descriptor);
  if (!found) return failure(404, `descriptor ${selector.descriptor} is not registered`);
  return json(found.keyPrefixes.flatMap((prefix) => scheduler.statuses(prefix)));
}

function history(scheduler: Scheduler, request: RouteRequest): RouteResponse {
  const seqNum = integerArgument(request, 'seq-num');
  if (seqNum !== undefined) {
    const record = scheduler.record(seqNum);
    return record
      ? json(record)
      : failure(404, 'transaction with such sequence number is not recorded');
  }
  return json(scheduler.history(time(request, 'since'), time(request, 'until')));
}

/** @throws ErrBadRequest */
function time(request: RouteRequest, name: string): number | undefined {
  const text = argument(request, name);
  if (text === undefined) return undefined;
  if (!/^[0-9]{1,19}$/.test(text))
    throw new ErrBadRequest(`argument ${name}="${text}" has to be Unix time in nanoseconds`);
  return Number(text) / NANOSECONDS_A_MS;
}
