import { SchedulerStats } from '#documents/scheduler/stats.ts';
import { json, type Route } from '#infra/http/route.ts';
import type { Scheduler } from '../scheduler.ts';
import { allowOnly } from './arguments.ts';

/** REST: statistics of the scheduler. */
export function statsRoutes(scheduler: Scheduler): Route[] {
  return [
    {
      method: 'GET',
      path: '/scheduler/stats',
      mutating: false,
      summary:
        'numbers and durations of transactions, operations and descriptor calls since the start',
      reply: SchedulerStats,
      handle: (request) => {
        allowOnly(request, []);
        return json(scheduler.stats);
      },
    },
  ];
}
