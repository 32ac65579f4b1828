import { changes } from './changes.ts';
import { cycle } from './cycle.ts';
import { derivedRecreate } from './derived-recreate.ts';
import { derivedStays } from './derived-stays.ts';
import { emptyResync } from './empty-resync.ts';
import { emptySouthbound } from './empty-southbound.ts';
import { filledSouthbound } from './filled-southbound.ts';
import type { Scenario } from './format.ts';
import { notifications } from './notifications.ts';
import { notificationsWithRetry } from './notifications-retry.ts';
import { resyncWithRetry } from './retry.ts';
import { revert } from './revert.ts';
import { threeDescriptors } from './three-descriptors.ts';
import { unmanagedValue } from './unmanaged-value.ts';

export const scenarios: readonly Scenario[] = [
  emptyResync,
  emptySouthbound,
  filledSouthbound,
  unmanagedValue,
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
