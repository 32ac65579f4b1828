/** REST documents of the requests to VPP, in the form that agentctl reads. */
import {
  type CallDocument,
  CallTotals,
  CallStatistics as StatisticsDocument,
} from '#documents/telemetry.ts';
import { json, NotFoundError, type Route } from '#infra/http/route.ts';
import type { VppClient } from '../binapi/api.ts';
import type { CallStatistics, CallTally } from './call-statistics.ts';

/** Name under which agentctl asks for the totals. */
const MODEL = 'govppmux.stats';

export function callRoutes(calls: CallStatistics, client: VppClient): Route[] {
  const totals = () => {
    const { sent, done, failed, replies } = calls.totals;
    return withoutZeros({
      channels_created: client.generation,
      channels_open: client.state === 'connected' ? 1 : 0,
      requests_sent: sent,
      requests_done: done,
      requests_fail: failed,
      request_replies: replies,
    });
  };
  return [
    {
      method: 'GET',
      path: '/govppmux/stats',
      mutating: false,
      summary: 'requests to VPP by message: numbers and durations in seconds',
      reply: StatisticsDocument,
      handle: () =>
        json({
          ...totals(),
          Errors: counted(errorsOf(calls)),
          AllMessages: document(undefined, calls.all),
          Messages: [...calls.doneByMessage]
            .map(([name, tally]) => document(name, tally))
            .sort(byCount),
          Replies: counted(calls.repliesByMessage),
        }),
    },
    {
      method: 'GET',
      path: '/metrics/:metric',
      mutating: false,
      summary: 'one group of metrics as JSON, for agentctl: govppmux.stats',
      reply: CallTotals,
      handle({ params }) {
        if (params['metric'] === MODEL) return json(totals());
        throw new NotFoundError(`no metric ${params['metric']}: ${MODEL} is the only one`);
      },
    },
  ];
}

function errorsOf(calls: CallStatistics): ReadonlyMap<string, number> {
  const sums = new Map<string, number>();
  for (const errors of calls.failedByMessage.values())
    for (const [error, count] of errors) sums.set(error, (sums.get(error) ?? 0) + count);
  return sums;
}

function counted(counts: ReadonlyMap<string, number>): CallDocument[] {
  return [...counts].map(([name, count]) => ({ name, count })).sort(byCount);
}

function document(name: string | undefined, tally: CallTally): CallDocument {
  const { count, total, min, max } = tally;
  const seconds = withoutZeros({
    total: rounded(total),
    avg: count === 0 ? 0 : rounded(total / count),
    min: rounded(min),
    max: rounded(max),
  });
  return { ...(name !== undefined && { name }), count, ...seconds };
}

/** Fields that are 0 are left out, as in the original. */
function withoutZeros(fields: Readonly<Record<string, number>>): Record<string, number> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== 0));
}

/** To milliseconds. */
function rounded(seconds: number): number {
  return Math.round(seconds * 1_000) / 1_000;
}

function byCount(a: CallDocument, b: CallDocument): number {
  return b.count - a.count;
}
