/**
 * Which subnets are in effect. When contiv.conf names others while pods run, the agent continues with the
 * recorded ones: the pods keep their addresses, which would be outside of the new subnets, and no other
 * node would have a route to them.
 */
import { type CodedError, defineError } from '#infra/errors/errors.ts';
import type { IpamConfig } from '#plugins/contivconf/api.ts';
import type { ResyncContext } from '#plugins/controller/api/event-handler.ts';
import type { AddressRecord } from './address-record.ts';
import type { Plan } from './plan.ts';
import type { PlanRecord } from './plan-record.ts';
import { podList } from './subnet-problems.ts';

export const SubnetsInUseError = defineError({
  name: 'SubnetsInUseError',
  code: 'CV_IPAM_SUBNETS_IN_USE',
  isRetriable: false,
  remedy:
    'Restore the previous settings, or drain the node: the new ones take effect when none of its pods has an address outside of them.',
});

export interface PlanChoice {
  readonly configured: IpamConfig;
  readonly record: PlanRecord;
  planWith(config: IpamConfig): PossiblePlan;
}

interface PossiblePlan {
  readonly plan: Plan;
  /** Running pods whose addresses are outside of the pod subnet of this node then. */
  readonly outside: readonly AddressRecord[];
}

export interface SelectedPlan {
  readonly plan: Plan;
  /** Why the configured subnets are not in effect; undefined: they are. */
  readonly problem: CodedError | undefined;
}

/**
 * Uses the configured subnets, unless a running pod has an address outside of them: then the recorded
 * ones, in which the pod was created.
 */
export async function selectPlan(
  ctx: ResyncContext,
  { configured, record, planWith }: PlanChoice,
): Promise<SelectedPlan> {
  const recorded = record.recorded(configured);
  const changes = record.changes(configured);
  const { plan, outside } = planWith(configured);
  if (outside.length > 0 && recorded && changes.length > 0) {
    const still = planWith(recorded);
    if (still.outside.length < outside.length) {
      const problem = new SubnetsInUseError(
        `the change of ${changes.join(', ')} is not in effect: it would cut off ${podList(outside)}`,
      );
      ctx.log.error({ err: problem }, 'keeping the subnets of running pods');
      return { plan: still.plan, problem };
    }
  }
  await record.tryWrite(ctx, configured);
  return { plan, problem: undefined };
}
