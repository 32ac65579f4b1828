/**
 * Which subnets are in effect. When contiv.conf names others while pods run, the agent continues with the
 * recorded ones: the pods keep their addresses, which would be outside of the new subnets, and no other
 * node would have a route to them.
 */
import { type CodedError, defineError } from '#infra/errors/errors.ts';
import type { IpamConfig } from '#plugins/contivconf/api.ts';
import type { ResyncContext } from '#plugins/controller/api/event-handler.ts';
import { podIdText } from '#plugins/podmanager/api.ts';
import type { AddressRecord } from './address-record.ts';
import type { PlanRecord } from './plan-record.ts';

export const SubnetsInUseError = defineError({
  name: 'SubnetsInUseError',
  code: 'CV_IPAM_SUBNETS_IN_USE',
  isRetriable: false,
  remedy:
    'Restore the previous settings, or drain the node: the new ones take effect when none of its pods has an address outside of them.',
});

export const PodOutsideSubnetError = defineError({
  name: 'PodOutsideSubnetError',
  code: 'CV_IPAM_POD_OUTSIDE',
  isRetriable: false,
  remedy:
    'Delete these pods, so that they are created again with addresses of the subnet, or restore the settings under ipamConfig with which they were created.',
});

/** Pods that a message names. */
const MAX_NAMED = 10;

/** Subnets in use. */
export interface UsedPlan {
  readonly podSubnetThisNode: string;
  /** Addresses of running pods outside of that subnet. */
  readonly outside: readonly AddressRecord[];
}

export interface PlanChoice {
  readonly configured: IpamConfig;
  readonly record: PlanRecord;
  /** Calculates everything by the subnets of the settings. */
  use(config: IpamConfig): UsedPlan;
}

/**
 * Uses the configured subnets, unless a running pod has an address outside of them: then the recorded
 * ones, in which the pod was created.
 * @returns why the configured subnets are not used, or which pods are outside of them
 */
export async function selectPlan(
  ctx: ResyncContext,
  { configured, record, use }: PlanChoice,
): Promise<CodedError | undefined> {
  const recorded = record.recorded(configured);
  const changes = record.changes(configured);
  const { outside, podSubnetThisNode } = use(configured);
  if (outside.length > 0 && recorded && changes.length > 0) {
    const still = use(recorded).outside;
    if (still.length < outside.length) {
      const problem = new SubnetsInUseError(
        `the change of ${changes.join(', ')} is not in effect: it would cut off ${podList(outside)}`,
      );
      ctx.log.error({ err: problem }, 'keeping the subnets of running pods');
      return problem;
    }
    use(configured);
  }
  await record.write(ctx, configured);
  if (outside.length === 0) return undefined;
  const problem = new PodOutsideSubnetError(
    `${podList(outside)} cannot be reached from other nodes: outside of ${podSubnetThisNode}`,
  );
  ctx.log.error({ err: problem }, 'pods have addresses outside of the subnet of this node');
  return problem;
}

function podList(records: readonly AddressRecord[]): string {
  const names = records
    .slice(0, MAX_NAMED)
    .map(({ pod, address }) => `${podIdText(pod)} (${address})`);
  const more = records.length - names.length;
  return more > 0 ? `${names.join(', ')} and ${more} more` : names.join(', ');
}
