/** REST: desired, known and actual values, and their states. */
import type { Clock } from '#infra/clock/clock.ts';
import {
  argument,
  BadRequestError,
  failure,
  json,
  type Route,
  type RouteRequest,
  type RouteResponse,
} from '#infra/http/route.ts';
import { streamedJson, streamedList } from '#infra/http/streamed.ts';
import { TransactionQueueFullError, UnknownDescriptorError } from '../api/errors.ts';
import type { DumpedValue, DumpSelector, View } from '../graph/dump.ts';
import type { Scheduler } from '../scheduler.ts';
import { allowOnly, choiceArgument } from './arguments.ts';

const views: readonly View[] = ['SB', 'NB', 'cached'];
/** The values of the argument of earlier agents. */
const states = { SB: 'SB', NB: 'NB', internal: 'cached' } as const;

export function valueRoutes(scheduler: Scheduler, clock: Clock): Route[] {
  return [
    {
      method: 'GET',
      path: '/scheduler/dump',
      mutating: false,
      summary: 'values of a descriptor: descriptor | key-prefix, view=SB|NB|cached; default: index',
      query: {
        descriptor: { description: 'values of this descriptor' },
        'key-prefix': { description: 'values whose keys have this prefix' },
        view: { description: 'default: SB', choices: views },
        state: {
          description: 'view in the encoding of earlier agents',
          choices: Object.keys(states),
        },
      },
      handle: (request) => dump(scheduler, clock, request),
    },
    {
      method: 'GET',
      path: '/scheduler/status',
      mutating: false,
      summary: 'state of values: key | descriptor | key-prefix; default: all',
      query: {
        key: { description: 'only this value' },
        descriptor: { description: 'values of this descriptor' },
        'key-prefix': { description: 'values whose keys have this prefix' },
      },
      handle: (request) => status(scheduler, clock, request),
    },
  ];
}

async function dump(
  scheduler: Scheduler,
  clock: Clock,
  request: RouteRequest,
): Promise<RouteResponse> {
  allowOnly(request, ['descriptor', 'key-prefix', 'view', 'state']);
  const view = choiceArgument(request, 'view', views);
  const state = choiceArgument(request, 'state', ['SB', 'NB', 'internal']);
  if (view && state) throw new BadRequestError('view cannot be combined with state: use view');
  const selector = dumpSelectorOf(request);
  if (!selector) {
    if (view ?? state) throw new BadRequestError('argument descriptor or key-prefix is missing');
    return json({
      Descriptors: scheduler.descriptors.map(({ name }) => name),
      KeyPrefixes: scheduler.descriptors.flatMap(({ nbKeyPrefix }) => nbKeyPrefix ?? []),
      Views: views,
    });
  }
  try {
    const values = await scheduler.dump(state ? states[state] : (view ?? 'SB'), selector);
    return state ? streamedList(oldEncoding(values), clock) : streamedJson(values, clock);
  } catch (error) {
    if (error instanceof UnknownDescriptorError) return failure(404, error.message);
    if (error instanceof TransactionQueueFullError) return failure(503, error.message);
    throw error;
  }
}

/** The encoding of agents up to 3.1: the JSON of the value is a string within the JSON. */
function* oldEncoding(values: readonly DumpedValue[]) {
  for (const { Key, Value, Metadata, Origin } of values) {
    const { typeName, data } = Value;
    const ProtoMsgData = JSON.stringify(data);
    yield { Key, Value: { ProtoMsgName: typeName, ProtoMsgData }, Metadata, Origin };
  }
}

/** @throws BadRequestError when both are given */
function dumpSelectorOf(request: RouteRequest): DumpSelector | undefined {
  const descriptor = argument(request, 'descriptor');
  const keyPrefix = argument(request, 'key-prefix');
  if (descriptor !== undefined && keyPrefix !== undefined)
    throw new BadRequestError('descriptor cannot be combined with key-prefix');
  if (descriptor !== undefined) return { descriptor };
  return keyPrefix === undefined ? undefined : { keyPrefix };
}

function status(scheduler: Scheduler, clock: Clock, request: RouteRequest): RouteResponse {
  allowOnly(request, ['key', 'descriptor', 'key-prefix']);
  const key = argument(request, 'key');
  if (key === '') throw new BadRequestError('argument key="" must be the key of a value');
  if (key !== undefined) return json(scheduler.status(key));
  const selector = dumpSelectorOf(request) ?? { keyPrefix: '' };
  if ('keyPrefix' in selector) return streamedList(scheduler.eachStatus(selector.keyPrefix), clock);
  const found = scheduler.descriptors.find(({ name }) => name === selector.descriptor);
  if (!found) return failure(404, `descriptor ${selector.descriptor} is not registered`);
  return streamedList(scheduler.eachStatusOf(found), clock);
}
