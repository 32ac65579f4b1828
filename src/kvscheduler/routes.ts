import type { Clock } from '#infra/clock/clock.ts';
import type { Route } from '#infra/http/route.ts';
import { graphRoutes } from './routes/graph.ts';
import { type ParseValue, planRoutes } from './routes/plan.ts';
import { statsRoutes } from './routes/stats.ts';
import { timelineRoutes } from './routes/timeline.ts';
import { transactionRoutes } from './routes/transactions.ts';
import { valueRoutes } from './routes/values.ts';
import type { Scheduler } from './scheduler.ts';

export interface SchedulerRoutesDeps {
  readonly scheduler: Scheduler;
  readonly clock: Clock;
  /** The scheduler knows no model: who does parses the values that somebody asks about. */
  readonly parseValue: ParseValue;
}

/** REST of the scheduler. */
export function schedulerRoutes({ scheduler, clock, parseValue }: SchedulerRoutesDeps): Route[] {
  return [
    ...valueRoutes(scheduler, clock),
    ...transactionRoutes(scheduler, clock),
    ...timelineRoutes(scheduler, clock),
    ...graphRoutes(scheduler, clock),
    ...statsRoutes(scheduler),
    ...planRoutes(scheduler, clock, parseValue),
  ];
}
