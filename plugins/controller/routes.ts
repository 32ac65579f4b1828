/** REST of the controller: event history, verification results, resync on demand. */

import { Type } from 'typebox';
import { EventHistory as HistoryDocument } from '#documents/events.ts';
import type { RecordedTransaction } from '#documents/scheduler/transaction-record.ts';
import { VerificationDocument } from '#documents/verification.ts';
import type { Clock } from '#infra/clock/clock.ts';
import {
  argument,
  BadRequestError,
  integerArgument,
  json,
  NotFoundError,
  type Route,
  type RouteRequest,
} from '#infra/http/route.ts';
import { streamedJson, streamedList, streamedText } from '#infra/http/streamed.ts';
import { TIME_ARGUMENT, timeArgument } from '#infra/http/time-argument.ts';
import { eventDocument } from './event-document.ts';
import type { EventHistory } from './event-history.ts';
import { historyText, RECORDING_IS_OFF } from './event-history-text.ts';
import type { EventRecord } from './event-record.ts';
import { eventStreamRoute } from './event-stream.ts';
import type { Verification } from './verification.ts';

export interface ControllerRoutesDeps {
  readonly clock: Clock;
  readonly history: EventHistory;
  readonly verification: Verification;
  /** Whether verification mode is enabled. */
  readonly verificationEnabled: boolean;
  /** Record of a transaction in the scheduler's REST format. */
  readonly transaction: (seqNum: number) => RecordedTransaction | undefined;
  /** Requests a resync from the datastore watcher; rejects when nothing was pushed. */
  readonly requestResync: (request: { readonly acceptEmpty: boolean }) => Promise<void>;
}

export function controllerRoutes(deps: ControllerRoutesDeps): Route[] {
  return [
    {
      method: 'GET',
      path: '/controller/event-history',
      mutating: false,
      summary:
        'event history; arguments: seq-num | since, until | from, to | first | last; format, txn',
      query: {
        'seq-num': { description: 'only this event' },
        since: { description: TIME_ARGUMENT },
        until: { description: TIME_ARGUMENT },
        from: { description: 'first sequence number; with to' },
        to: { description: 'last sequence number; with from' },
        first: { description: 'number of the oldest records' },
        last: { description: 'number of the newest records' },
        format: { description: 'default: json', choices: ['json', 'text'] },
        txn: {
          description: 'whether JSON includes the records of the transactions; default: true',
          choices: ['true', 'false'],
        },
      },
      reply: HistoryDocument,
      replyTypes: ['application/json', 'text/plain'],
      handle: (request) => eventHistory(request, deps),
    },
    {
      method: 'GET',
      path: '/controller/verification',
      mutating: false,
      summary: 'differences in handlers, VPP and Linux that verification mode has found',
      reply: VerificationDocument,
      handle: () => json(deps.verification.document(deps.verificationEnabled)),
    },
    {
      method: 'POST',
      path: '/controller/resync',
      mutating: true,
      summary: 'read all values from the datastore and resync; arguments: accept-empty',
      query: {
        'accept-empty': {
          description: 'accept a database that has lost the state of Kubernetes; default: false',
          choices: ['true', 'false'],
        },
      },
      reply: Type.String(),
      handle: (request) => resync(request, deps),
    },
    eventStreamRoute(deps),
  ];
}

async function resync(request: RouteRequest, { requestResync }: ControllerRoutesDeps) {
  const acceptEmpty = argument(request, 'accept-empty') ?? 'false';
  if (acceptEmpty !== 'true' && acceptEmpty !== 'false')
    throw new BadRequestError(`argument accept-empty="${acceptEmpty}" must be true or false`);
  await requestResync({ acceptEmpty: acceptEmpty === 'true' });
  return json('Resync request was successfully dispatched.');
}

function eventHistory(original: RouteRequest, deps: ControllerRoutesDeps) {
  const { history, clock } = deps;
  const request = withoutRepeated(original);
  const isText = formatOf(request) === 'text';
  const transaction = isTxnIncluded(request) ? deps.transaction : () => undefined;
  const seqNum = integerArgument(request, 'seq-num');
  if (seqNum === undefined) {
    const records = select(history.records, request);
    if (isText) return streamedText(historyText(records, history), clock);
    return streamedList(documents(records, transaction), clock);
  }
  const record = history.bySeqNum(seqNum);
  if (!record && history.isOff) throw new NotFoundError(RECORDING_IS_OFF);
  if (!record) throw new NotFoundError('event with such sequence number is not recorded');
  if (isText) return streamedText(historyText([record], history), clock);
  return streamedJson(eventDocument(record, transaction), clock);
}

/** An argument that is given more than once is ignored, as in the Go agent. */
function withoutRepeated(request: RouteRequest): RouteRequest {
  const query = Object.entries(request.query).filter(([, values]) => values.length === 1);
  return { ...request, query: Object.fromEntries(query) };
}

function formatOf(request: RouteRequest): 'json' | 'text' {
  const format = argument(request, 'format') ?? 'json';
  if (format === 'json' || format === 'text') return format;
  throw new BadRequestError(`argument format="${format}" must be json or text`);
}

/** The record of a transaction may be large. */
function isTxnIncluded(request: RouteRequest): boolean {
  const text = argument(request, 'txn') ?? 'true';
  if (text === 'true' || text === 'false') return text === 'true';
  throw new BadRequestError(`argument txn="${text}" must be true or false`);
}

/** Created while they are sent. */
function* documents(
  records: readonly EventRecord[],
  transaction: ControllerRoutesDeps['transaction'],
) {
  for (const record of records) yield eventDocument(record, transaction);
}

/** The first of these pairs and arguments that is given applies; all of them must be valid. */
function select(records: readonly EventRecord[], request: RouteRequest): readonly EventRecord[] {
  const since = timeArgument(request, 'since');
  const until = timeArgument(request, 'until');
  const from = integerArgument(request, 'from');
  const to = integerArgument(request, 'to');
  const first = integerArgument(request, 'first');
  const last = integerArgument(request, 'last');
  if (since !== undefined || until !== undefined)
    return inWindow(records, since ?? Number.NEGATIVE_INFINITY, until ?? Number.POSITIVE_INFINITY);
  if (from !== undefined && to !== undefined)
    return records.filter((record) => record.seqNum >= from && record.seqNum <= to);
  if (first !== undefined) return records.slice(0, first);
  if (last !== undefined) return last === 0 ? [] : records.slice(-last);
  return [...records];
}

/**
 * Events that were being processed in a time window; none if it ends before it begins.
 * @param since microseconds since the epoch, as `until`
 */
function inWindow(records: readonly EventRecord[], since: number, until: number) {
  if (until < since) return [];
  return records.filter(({ start, end }) => end * 1000 >= since && start * 1000 <= until);
}
