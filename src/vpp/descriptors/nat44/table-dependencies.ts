import type { Dependency } from '#kvscheduler/api/descriptor.ts';
import { vrfTableKey } from '#models/vpp/vrf-table.ts';
import { NONE } from '../limits.ts';

/** Depends on each table: VPP would create a missing one, without its name and label. */
export function tableDependencies(ids: Iterable<number>): readonly Dependency[] {
  return [...new Set(ids)]
    .filter((id) => id !== 0 && id !== NONE)
    .map((id) => ({
      label: `table-${id}-exists`,
      key: vrfTableKey.build({ id, protocol: 'IPV4' }),
    }));
}
