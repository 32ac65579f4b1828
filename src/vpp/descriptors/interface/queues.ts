import type { Dependency } from '#kvscheduler/api/descriptor.ts';
import { linkStateKey } from '#models/vpp/derived.ts';
import type { VppInterface } from '#models/vpp/interface.ts';
import { kindOf } from './kinds.ts';

/** When an interface has queues to be set. */
export function queuesExist({ name, type }: VppInterface): readonly Dependency[] {
  if (kindOf(type)?.queuesCome !== true) return [];
  return [{ label: 'link-is-up', key: linkStateKey.build({ iface: name, state: 'UP' }) }];
}
