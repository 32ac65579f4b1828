import { changes } from './changes.ts';
import { cycle } from './cycle.ts';
import { derivedRecreate } from './derivedrecreate.ts';
import { derivedStays } from './derivedstays.ts';
import { emptyResync } from './emptyresync.ts';
import { emptySouthbound } from './emptysouthbound.ts';
import { filledSouthbound } from './filledsouthbound.ts';
import { foreignValue } from './foreignvalue.ts';
import type { Scenario } from './format.ts';
import { notifications } from './notifications.ts';
import { notificationsWithRetry } from './notificationsretry.ts';
import { resyncWithRetry } from './retry.ts';
import { revert } from './revert.ts';
import { threeDescriptors } from './threedescriptors.ts';

export const scenarios: readonly Scenario[] = [
  emptyResync,
  emptySouthbound,
  filledSouthbound,
  foreignValue,
  threeDescriptors,
  resyncWithRetry,
  changes,
  revert,
  cycle,
  derivedStays,
  derivedRecreate,
  notifications,
  notificationsWithRetry,
];
