/** REST: records of transactions, and a resync on demand. */

import {
  RecordedTransaction,
  TransactionHistory,
} from '#documents/scheduler/transaction-record.ts';
import type { Clock } from '#infra/clock/clock.ts';
import {
  BadRequestError,
  failure,
  integerArgument,
  json,
  NotFoundError,
  type Route,
  type RouteRequest,
  type RouteResponse,
} from '#infra/http/route.ts';
import { streamedJson, streamedText } from '#infra/http/streamed.ts';
import { TIME_ARGUMENT, timeArgument } from '#infra/http/time-argument.ts';
import type { RetryPolicy, TransactionResult } from '../api/transaction.ts';
import type { RecordedTxn } from '../history/record.ts';
import { recordText } from '../history/record-text.ts';
import type { Scheduler } from '../scheduler.ts';
import { allowOnly, choiceArgument, switchArgument, switchTexts } from './arguments.ts';

/** The retry policy of the Go agent for a resync on demand. */
const defaultRetry: RetryPolicy = { periodMs: 1_000, maxAttempts: 3, exponential: true };

export function transactionRoutes(scheduler: Scheduler, clock: Clock): Route[] {
  return [
    {
      method: 'GET',
      path: '/scheduler/txn-history',
      mutating: false,
      summary: 'records of transactions: seq-num | since, until; format=json|text',
      query: {
        'seq-num': { description: 'only this transaction' },
        since: { description: TIME_ARGUMENT },
        until: { description: TIME_ARGUMENT },
        format: { description: 'default: json', choices: ['json', 'text'] },
      },
      reply: TransactionHistory,
      replyTypes: ['application/json', 'text/plain'],
      handle: (request) => history(scheduler, clock, request),
    },
    {
      method: 'POST',
      path: '/scheduler/downstream-resync',
      mutating: true,
      summary: 'reconcile the southbound with the desired state; returns the record',
      query: {
        retry: { description: 'retry failed operations', choices: switchTexts },
        verbose: {
          description: 'print the graph as it was found, before anything is changed',
          choices: switchTexts,
        },
      },
      reply: RecordedTransaction,
      handle: (request) => resync(scheduler, clock, request),
    },
  ];
}

function history(scheduler: Scheduler, clock: Clock, request: RouteRequest): RouteResponse {
  allowOnly(request, ['format', 'seq-num', 'since', 'until']);
  const isText = choiceArgument(request, 'format', ['json', 'text']) === 'text';
  const seqNum = integerArgument(request, 'seq-num');
  const since = timeArgument(request, 'since');
  const until = timeArgument(request, 'until');
  if (seqNum !== undefined && (since ?? until) !== undefined)
    throw new BadRequestError('seq-num cannot be combined with since or until');
  if (seqNum !== undefined) {
    const record = scheduler.record(seqNum);
    if (!record) throw new NotFoundError('transaction with such sequence number is not recorded');
    return isText ? streamedText(recordText(record), clock) : streamedJson(record, clock);
  }
  const records = scheduler.history(inMs(since), inMs(until));
  return isText ? streamedText(textOf(records), clock) : streamedJson(records, clock);
}

function inMs(micros: number | undefined): number | undefined {
  return micros === undefined ? undefined : micros / 1000;
}

function* textOf(records: readonly RecordedTxn[]): Generator<string, void, void> {
  for (const record of records) {
    yield* recordText(record);
    yield '\n';
  }
}

async function resync(
  scheduler: Scheduler,
  clock: Clock,
  request: RouteRequest,
): Promise<RouteResponse> {
  allowOnly(request, ['retry', 'verbose']);
  const options = {
    ...(switchArgument(request, 'retry') && { retry: defaultRetry }),
    verbose: switchArgument(request, 'verbose'),
  };
  const { seqNum, failures } = await scheduler.resyncDownstream(options);
  if (failures.length > 0) return failure(500, failuresText(failures));
  const record = scheduler.record(seqNum);
  return record ? streamedJson(record, clock) : json(null);
}

function failuresText(failures: TransactionResult['failures']): string {
  const texts = failures.map(
    ({ key, operation, error }) => `${key} (${operation}): ${error.message}`,
  );
  return `KeyErrors: [${texts.join(', ')}]`;
}
