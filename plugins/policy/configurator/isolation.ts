/** Makes the isolations of pods. */
import type { Isolation, Permit, PolicyName } from '../pod-policy.ts';

/** No policy isolates the pod. */
export const notIsolated: Isolation = { policies: [], permits: [] };

/** @returns `before` if nothing has changed */
export function isolation(
  policies: readonly PolicyName[],
  permits: readonly Permit[],
  before: Isolation,
): Isolation {
  const isSame =
    policies.length === before.policies.length &&
    permits.length === before.permits.length &&
    policies.every((name, at) => name === before.policies[at]) &&
    permits.every((permit, at) => isSamePermit(permit, before.permits[at] as Permit));
  if (isSame) return before;
  return policies.length === 0 ? notIsolated : { policies, permits };
}

function isSamePermit(a: Permit, b: Permit): boolean {
  if (a === b) return true;
  return (
    a.policy === b.policy &&
    a.rule === b.rule &&
    a.ports.text === b.ports.text &&
    a.peers.equals(b.peers)
  );
}
