/** REST: transactions as a page shows them: a list of summaries, and the operations of one in parts. */

import {
  TransactionDetail,
  TransactionList,
  type TransactionSummary,
} from '#documents/scheduler/transaction-pages.ts';
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
import { streamedJson } from '#infra/http/streamed.ts';
import { operationRows } from '../history/operation-rows.ts';
import type { Scheduler } from '../scheduler.ts';
import { allowOnly, choiceArgument, switchArgument, switchTexts } from './arguments.ts';
import {
  operationDocument,
  selected,
  selectedOperations,
  summary,
} from './transaction-documents.ts';

/** Of one reply. */
const MAX_ITEMS = 200;
const DEFAULT_SUMMARIES = 50;
const operations = ['CREATE', 'UPDATE', 'DELETE'] as const;

export function transactionPageRoutes(scheduler: Scheduler, clock: Clock): Route[] {
  return [
    {
      method: 'GET',
      path: '/scheduler/transactions',
      mutating: false,
      summary: 'summaries of transactions, the newest first: last, before, key, text, failed',
      query: {
        last: { description: 'number of summaries, up to 200; default: 50' },
        before: { description: 'only transactions with a smaller sequence number' },
        key: { description: 'only those with an operation whose key contains this' },
        text: { description: 'only those whose description contains this, in any case' },
        failed: {
          description:
            'only those with an error, or with a planned operation that was not executed',
          choices: switchTexts,
        },
      },
      reply: TransactionList,
      handle: (request) => summaries(scheduler, clock, request),
    },
    {
      method: 'GET',
      path: '/scheduler/transaction',
      mutating: false,
      summary:
        'one transaction, planned and executed operations in one list: seq-num, from, limit, key, operation',
      query: {
        'seq-num': { description: 'number of the transaction', isRequired: true },
        from: { description: 'number of selected operations to skip; default: 0' },
        limit: { description: 'number of operations, up to 200, which is the default' },
        key: { description: 'only operations whose key contains this' },
        operation: { description: 'only these operations', choices: operations },
        failed: { description: 'only operations that failed', choices: switchTexts },
        different: {
          description: 'only operations that were not executed as planned',
          choices: switchTexts,
        },
        values: { description: 'with the values before and after', choices: switchTexts },
      },
      reply: TransactionDetail,
      handle: (request) => detail(scheduler, clock, request),
    },
  ];
}

async function summaries(
  scheduler: Scheduler,
  clock: Clock,
  request: RouteRequest,
): Promise<RouteResponse> {
  allowOnly(request, ['last', 'before', 'key', 'text', 'failed']);
  const last = Math.min(integerArgument(request, 'last') ?? DEFAULT_SUMMARIES, MAX_ITEMS);
  const before = integerArgument(request, 'before') ?? Number.POSITIVE_INFINITY;
  const selector = {
    key: textArgument(argument(request, 'key')),
    text: textArgument(argument(request, 'text')),
    isFailed: switchArgument(request, 'failed'),
  };
  const slices = new Slices(clock);
  const found: TransactionSummary[] = [];
  let next: number | null = null;
  for (const record of scheduler.history().reverse()) {
    if (slices.due()) await slices.turn();
    if (record.SeqNum >= before) continue;
    if (found.length === last) {
      next = record.SeqNum + 1;
      break;
    }
    const rows = await selected(record, selector, slices);
    if (rows) found.push(await summary(record, rows, slices));
  }
  const list: TransactionList = { Transactions: found, Before: next };
  return streamedJson(list, clock);
}

async function detail(
  scheduler: Scheduler,
  clock: Clock,
  request: RouteRequest,
): Promise<RouteResponse> {
  allowOnly(request, [
    'seq-num',
    'from',
    'limit',
    'key',
    'operation',
    'failed',
    'different',
    'values',
  ]);
  const seqNum = integerArgument(request, 'seq-num');
  if (seqNum === undefined)
    throw new BadRequestError('argument seq-num is missing: the number of a transaction');
  const from = integerArgument(request, 'from') ?? 0;
  const limit = Math.min(integerArgument(request, 'limit') ?? MAX_ITEMS, MAX_ITEMS);
  const withValues = switchArgument(request, 'values');
  const selector = {
    key: textArgument(argument(request, 'key')),
    operation: choiceArgument(request, 'operation', operations),
    isFailed: switchArgument(request, 'failed'),
    isDifferent: switchArgument(request, 'different'),
  };
  const record = scheduler.record(seqNum);
  if (!record) throw new NotFoundError('transaction with such sequence number is not recorded');
  const slices = new Slices(clock);
  const rows = await operationRows(record, slices);
  const indexes = await selectedOperations(rows, selector, slices);
  const document: TransactionDetail = {
    ...(await summary(record, rows, slices)),
    RetrieveErrors: record.RetrieveErrors ?? [],
    VerificationErrors: record.VerificationErrors ?? [],
    Matching: indexes.length,
    Operations: indexes
      .slice(from, from + limit)
      .map((index) => operationDocument(rows[index]!, index, withValues)),
  };
  return streamedJson(document, clock);
}

/** An empty text selects everything, as an empty field of a form does. */
function textArgument(text: string | undefined): string | undefined {
  return text === '' ? undefined : text;
}
