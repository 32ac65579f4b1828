/** REST of the controller: the history of events, and a resync on demand. */

import type { Clock } from '#infra/clock/clock.ts';
import { rfc3339 } from '#infra/clock/rfc3339.ts';
import { errorText } from '#infra/errors/errors.ts';
import {
  failure,
  integerArgument,
  json,
  type Route,
  type RouteRequest,
} from '#infra/http/route.ts';
import { streamedJson, streamedList } from '#infra/http/streamed.ts';
import type { EventHistory, EventRecord } from './history.ts';

export interface ControllerRoutesDeps {
  readonly clock: Clock;
  readonly history: EventHistory;
  /** Record of a transaction as the scheduler shows it. */
  readonly transaction: (seqNum: number) => object | undefined;
  /** Asks the watcher of the datastore for a resync; throws when it cannot take the request. */
  readonly requestResync: () => void;
}

export function controllerRoutes(deps: ControllerRoutesDeps): Route[] {
  return [
    {
      method: 'GET',
      path: '/controller/event-history',
      mutating: false,
      summary: 'processed events: seq-num | since, until (Unix s) | from, to | first | last',
      handle: (request) => eventHistory(request, deps),
    },
    {
      method: 'POST',
      path: '/controller/resync',
      mutating: true,
      summary: 'read everything from the datastore again and resync',
      handle: () => {
        try {
          deps.requestResync();
        } catch (error) {
          return failure(500, errorText(error));
        }
        return json('Resync request was successfully dispatched.');
      },
    },
  ];
}

function eventHistory(request: RouteRequest, deps: ControllerRoutesDeps) {
  const { history } = deps;
  const seqNum = integerArgument(request, 'seq-num');
  if (seqNum !== undefined) {
    const record = history.bySeqNum(seqNum);
    if (!record) return failure(404, 'event with such sequence number is not recorded');
    return streamedJson(document(record, deps), deps.clock);
  }
  const records = select([...history.records], request);
  return records.length > 0 ? streamedList(documents(records, deps), deps.clock) : json(null);
}

/** Made while they are sent. */
function* documents(records: readonly EventRecord[], deps: ControllerRoutesDeps) {
  for (const record of records) yield document(record, deps);
}

function select(records: readonly EventRecord[], request: RouteRequest): readonly EventRecord[] {
  const since = integerArgument(request, 'since');
  const until = integerArgument(request, 'until');
  if (since !== undefined || until !== undefined)
    return records.filter(
      (record) =>
        record.end >= (since ?? 0) * 1000 &&
        record.start <= (until ?? Number.MAX_SAFE_INTEGER) * 1000,
    );
  const from = integerArgument(request, 'from');
  const to = integerArgument(request, 'to');
  if (from !== undefined && to !== undefined)
    return records.filter((record) => record.seqNum >= from && record.seqNum <= to);
  const first = integerArgument(request, 'first');
  if (first !== undefined) return records.slice(0, first);
  const last = integerArgument(request, 'last');
  if (last !== undefined) return last === 0 ? [] : records.slice(-last);
  return records;
}

/** The JSON of the Go agent's EventRecord. Its error objects are empty, the texts stand beside. */
function document(record: EventRecord, { transaction }: ControllerRoutesDeps) {
  const { event } = record;
  return {
    SeqNum: record.seqNum,
    ProcessingStart: rfc3339(record.start),
    ProcessingEnd: rfc3339(record.end),
    IsFollowUp: record.followUpTo !== undefined,
    FollowUpTo: record.followUpTo ?? 0,
    Name: event.kind.name(event.payload),
    Description: record.description,
    Method: event.kind.method(event.payload),
    Handlers: record.handlers.map(({ handler, revert, change, error }) => ({
      Handler: handler,
      Revert: revert,
      Change: change,
      Error: error === undefined ? null : {},
      ErrorStr: error ?? '',
    })),
    TxnError: record.transactionError === undefined ? null : {},
    TxnErrorStr: record.transactionError ?? '',
    Txn: record.transaction === undefined ? null : (transaction(record.transaction) ?? null),
  };
}
