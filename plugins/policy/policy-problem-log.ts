import { isDeepStrictEqual } from 'node:util';
import type { Logger } from '#infra/log/log.ts';
import type { PolicyName } from './pod-policy.ts';

type Log = Pick<Logger, 'info' | 'warn'>;
type Reasons = ReadonlyMap<PolicyName, readonly string[]>;

/** Logs why policies are not carried as their objects define them, each change of the reasons once. */
export class PolicyProblemLog {
  #reasons: Reasons = new Map();

  /**
   * @param ctx of an event, which makes its logger when that is asked for
   * @param sources complete; the reasons of a policy in all of them are reported together
   */
  set(ctx: { readonly log: Log }, ...sources: readonly Reasons[]): void {
    const before = this.#reasons;
    const current = new Map<PolicyName, readonly string[]>();
    for (const source of sources)
      for (const [policy, reasons] of source)
        current.set(policy, [...(current.get(policy) ?? []), ...reasons]);
    this.#reasons = current;
    for (const [policy, reasons] of current)
      if (!isDeepStrictEqual(before.get(policy), reasons))
        ctx.log.warn({ policy, reasons }, `policy ${policy} is not carried as it is defined`);
    for (const policy of before.keys())
      if (!current.has(policy))
        ctx.log.info({ policy }, `policy ${policy} has no problem any more`);
  }
}
