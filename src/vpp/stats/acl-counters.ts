/** Counters of the ACL plugin, which are error counters of its graph nodes. */
import type { NodeErrorCounter } from '#plugins/controller/api/ports/stats.ts';

/** Reason of an error counter to what it counts. */
const reasons = {
  'ACL permit packets': 'permitted',
  'ACL deny packets': 'denied',
  'existing session packets': 'session',
  'new sessions added': 'new_session',
  'too many sessions to add new': 'refused_session',
} as const;

const directions = ['in', 'out'] as const;
const families = ['4', '6'] as const;

export interface AclCounter {
  /** As VPP sees the interface: packets of a pod come `in`. */
  readonly direction: (typeof directions)[number];
  readonly family: (typeof families)[number];
  readonly verdict: (typeof reasons)[keyof typeof reasons];
  readonly packets: number;
}

/** All of them, also those that are zero and therefore not among the errors. */
export function aclCounters(errors: readonly NodeErrorCounter[]): readonly AclCounter[] {
  const counts = new Map(errors.map(({ node, reason, count }) => [`${node}/${reason}`, count]));
  return directions.flatMap((direction) =>
    families.flatMap((family) =>
      Object.entries(reasons).map(([reason, verdict]) => {
        const count = counts.get(`acl-plugin-${direction}-ip${family}-fa/${reason}`) ?? 0n;
        return { direction, family, verdict, packets: Number(count) };
      }),
    ),
  );
}
