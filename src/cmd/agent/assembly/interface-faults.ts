/** Errors of the values of an interface of this node. */
import type { Scheduler } from '#kvscheduler/scheduler.ts';
import { vppInterfaceKey } from '#models/vpp/interface.ts';

/** Of the interface itself and of its addresses; one that waits for a dependency has none. */
export function interfaceFaults(scheduler: Pick<Scheduler, 'status'>, name: string): string[] {
  const { value, derived_values = [] } = scheduler.status(vppInterfaceKey.build({ name }));
  return [value, ...derived_values].flatMap(({ key, error }) =>
    error === undefined ? [] : [`${key}: ${error}`],
  );
}
