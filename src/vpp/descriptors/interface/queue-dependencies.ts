import type { Dependency } from '#kvscheduler/api/descriptor.ts';
import { linkStateKey } from '#models/vpp/derived.ts';
import type { VppInterface } from '#models/vpp/interface.ts';
import { handlerOf } from './types/registry.ts';

/** Met while an interface has the queues that its settings are for. */
export function queueDependencies({ name, type }: VppInterface): readonly Dependency[] {
  if (handlerOf(type)?.hasDynamicQueues !== true) return [];
  return [{ label: 'link-is-up', key: linkStateKey.build({ iface: name, state: 'UP' }) }];
}
