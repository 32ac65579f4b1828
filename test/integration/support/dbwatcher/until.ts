import { until as untilWithin } from '#test/support/wait.ts';

/** A real etcd on a loaded machine: the limit is for a condition that never comes true. */
export const LIMIT_MS = 300_000;

/** Polls until the condition holds. @throws when it does not within the limit */
export function until(what: string, condition: () => boolean | Promise<boolean>): Promise<void> {
  return untilWithin(what, condition, LIMIT_MS);
}
