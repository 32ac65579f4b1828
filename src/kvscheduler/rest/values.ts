/** REST: desired, known and actual values, and their states. */
import { Dump, type DumpIndex } from '#documents/scheduler/dump.ts';
import {
  SchedulerStatus,
  type BaseValueStatus as StatusDocument,
} from '#documents/scheduler/status.ts';
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
import { streamedList } from '#infra/http/streamed.ts';
import type { Value } from '../api/transaction.ts';
import type { DumpedValue, DumpSelector, View } from '../graph/dump.ts';
import type { BaseValueStatus, ValueStatus } from '../graph/value-status.ts';
import type { Scheduler } from '../scheduler.ts';
import { allowOnly, choiceArgument } from './arguments.ts';

const views: readonly View[] = ['SB', 'NB', 'cached'];
/** The values of the argument of earlier agents. */
const states = { SB: 'SB', NB: 'NB', internal: 'cached' } as const;

/**
 * A value and its metadata in the JSON of the original agent: the scheduler does not depend on the models.
 * @returns an undefined value for messages that are not in the configuration
 */
export type EncodeOriginal = (
  typeName: string,
  value: Value,
  metadata: unknown,
) => { readonly value: unknown; readonly metadata: unknown };

export function valueRoutes(
  scheduler: Scheduler,
  clock: Clock,
  encodeOriginal: EncodeOriginal,
): Route[] {
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
          description: 'the view, in the encoding that netctl and contiv-crd read',
          choices: Object.keys(states),
        },
      },
      reply: Dump,
      handle: (request) => dump(scheduler, clock, encodeOriginal, request),
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
      reply: SchedulerStatus,
      handle: (request) => status(scheduler, clock, request),
    },
  ];
}

async function dump(
  scheduler: Scheduler,
  clock: Clock,
  encodeOriginal: EncodeOriginal,
  request: RouteRequest,
): Promise<RouteResponse> {
  allowOnly(request, ['descriptor', 'key-prefix', 'view', 'state']);
  const view = choiceArgument(request, 'view', views);
  const state = choiceArgument(request, 'state', ['SB', 'NB', 'internal']);
  if (view && state) throw new BadRequestError('view cannot be combined with state: use view');
  const selector = dumpSelectorOf(scheduler, request);
  if (!selector) {
    if (view ?? state) throw new BadRequestError('argument descriptor or key-prefix is missing');
    const index: DumpIndex = {
      Descriptors: scheduler.descriptors.map(({ name }) => name),
      KeyPrefixes: scheduler.descriptors.flatMap(({ nbKeyPrefix }) => nbKeyPrefix ?? []),
      Views: views,
    };
    return json(index);
  }
  const values = await scheduler.dump(state ? states[state] : (view ?? 'SB'), selector);
  const isPlain = state !== undefined || (view === 'NB' && 'descriptor' in selector);
  const encoding = isPlain ? plainValues : 'keyPrefix' in selector ? namedValues : ownValues;
  return streamedList(encoding(values, encodeOriginal), clock);
}

function* ownValues(values: readonly DumpedValue[]) {
  for (const { Key, Value, Metadata, Origin } of values) yield { Key, Value, Metadata, Origin };
}

/** As netctl and contiv-crd read them. */
function* plainValues(values: readonly DumpedValue[], encode: EncodeOriginal) {
  for (const { Key, Value, Origin, ...others } of values) {
    const { value, metadata } = encode(Value.ProtoMsgName, Value.value, others.Metadata);
    yield { Key, Value: value ?? Value.ProtoMsgData, Metadata: metadata, Origin };
  }
}

/** As agentctl 3.1 reads them: the JSON of the value is a string. */
function* namedValues(values: readonly DumpedValue[], encode: EncodeOriginal) {
  for (const { Key, Value, Origin, ...others } of values) {
    const { value, metadata } = encode(Value.ProtoMsgName, Value.value, others.Metadata);
    const ProtoMsgData = JSON.stringify(value ?? Value.ProtoMsgData);
    yield {
      Key,
      Value: { ProtoMsgName: Value.ProtoMsgName, ProtoMsgData },
      Metadata: metadata,
      Origin,
    };
  }
}

/** @throws BadRequestError when both are given */
function dumpSelectorOf(scheduler: Scheduler, request: RouteRequest): DumpSelector | undefined {
  const descriptor = argument(request, 'descriptor');
  const keyPrefix = argument(request, 'key-prefix');
  if (descriptor !== undefined && keyPrefix !== undefined)
    throw new BadRequestError('descriptor cannot be combined with key-prefix');
  if (descriptor !== undefined) return { descriptor };
  return keyPrefix === undefined ? undefined : { keyPrefix: withoutSlash(scheduler, keyPrefix) };
}

/** agentctl 3.1 adds a slash also to the key of a model with a single value. */
function withoutSlash({ descriptors }: Scheduler, keyPrefix: string): string {
  const isSingle = descriptors.some(({ nbKeyPrefix }) => `${nbKeyPrefix}/` === keyPrefix);
  return isSingle ? keyPrefix.slice(0, -1) : keyPrefix;
}

function status(scheduler: Scheduler, clock: Clock, request: RouteRequest): RouteResponse {
  allowOnly(request, ['key', 'descriptor', 'key-prefix']);
  const isPrefixGiven = argument(request, 'key-prefix') !== undefined;
  const given = argument(request, 'key');
  // agentctl 3.5 sends an empty key with each prefix
  const key = given === '' && isPrefixGiven ? undefined : given;
  if (key === '') throw new BadRequestError('argument key="" must be the key of a value');
  if (key !== undefined) return json(statusDocument(scheduler.status(key)));
  const selector = dumpSelectorOf(scheduler, request) ?? { keyPrefix: '' };
  if ('keyPrefix' in selector)
    return streamedList(statusDocuments(scheduler.eachStatus(selector.keyPrefix)), clock);
  const found = scheduler.descriptors.find(({ name }) => name === selector.descriptor);
  if (!found) throw new NotFoundError(`descriptor ${selector.descriptor} is not registered`);
  return streamedList(statusDocuments(scheduler.eachStatusOf(found)), clock);
}

function* statusDocuments(statuses: Iterable<BaseValueStatus>) {
  for (const status of statuses) yield statusDocument(status);
}

/**
 * The original spells it lastOperation, later releases last_operation. agentctl 3.1 rejects a value with
 * any other field, so the state of the last valid value is beside it.
 */
function statusDocument({ value, derived_values }: BaseValueStatus): StatusDocument {
  const { last_valid_state } = value;
  return {
    value: valueDocument(value),
    ...(derived_values && { derived_values: derived_values.map(valueDocument) }),
    ...(last_valid_state && { last_valid_state }),
  };
}

function valueDocument({ last_valid_state: _, ...status }: ValueStatus) {
  const { last_operation } = status;
  return { ...status, ...(last_operation && { lastOperation: last_operation }) };
}
