import { json, type Route } from '#infra/http/route.ts';
import type { Scheduler } from '../scheduler.ts';
import { allowOnly } from './arguments.ts';

/** REST: what the scheduler has done so far, in numbers. */
export function statsRoutes(scheduler: Scheduler): Route[] {
  return [
    {
      method: 'GET',
      path: '/scheduler/stats',
      mutating: false,
      summary: 'transactions, operations and calls of descriptors so far, with their times',
      handle: (request) => {
        allowOnly(request, []);
        return json(scheduler.stats);
      },
    },
  ];
}
