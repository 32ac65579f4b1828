import type { Clock } from '#infra/clock/clock.ts';
import type { Route } from '#infra/http/route.ts';
import type { Scheduler } from '../scheduler.ts';
import { graphRoutes } from './graph.ts';
import { type ParseValue, planRoutes } from './plan.ts';
import { type OwnersOf, singleValueRoutes } from './single-value.ts';
import { statsRoutes } from './stats.ts';
import { timelineRoutes } from './timeline.ts';
import { transactionPageRoutes } from './transaction-pages.ts';
import { transactionRoutes } from './transactions.ts';
import { valueSearchRoutes } from './value-search.ts';
import { type EncodeOriginal, valueRoutes } from './values.ts';

export interface SchedulerRoutesDeps {
  readonly scheduler: Scheduler;
  readonly clock: Clock;
  /** Parses the values of a request: the scheduler does not depend on the models. */
  readonly parseValue: ParseValue;
  /** Encodes values for the programs of the original. */
  readonly encodeOriginal: EncodeOriginal;
  readonly ownersOf: OwnersOf;
}

/** REST of the scheduler. */
export function schedulerRoutes({
  scheduler,
  clock,
  parseValue,
  encodeOriginal,
  ownersOf,
}: SchedulerRoutesDeps): Route[] {
  return [
    ...valueRoutes(scheduler, clock, encodeOriginal),
    ...valueSearchRoutes(scheduler, clock),
    ...singleValueRoutes(scheduler, clock, ownersOf),
    ...transactionRoutes(scheduler, clock),
    ...transactionPageRoutes(scheduler, clock),
    ...timelineRoutes(scheduler, clock),
    ...graphRoutes(scheduler, clock),
    ...statsRoutes(scheduler),
    ...planRoutes(scheduler, clock, parseValue),
  ];
}
