/** Pods of this node that cannot be reached from everywhere, because of their addresses. */
import { type CodedError, defineError } from '#infra/errors/errors.ts';
import { podIdText } from '#plugins/podmanager/api.ts';
import type { AddressRecord } from './address-record.ts';
import type { Plan } from './plan.ts';
import { contains, prefixText } from './prefix.ts';

export const PodOutsideSubnetError = defineError({
  name: 'PodOutsideSubnetError',
  code: 'CV_IPAM_POD_OUTSIDE',
  isRetriable: false,
  remedy:
    'Delete these pods, so that they are created again with addresses of the subnet, or restore the settings with which they were created: those under ipamConfig, or those of the external IPAM plugin.',
});

export const PodSubnetOutsideError = defineError({
  name: 'PodSubnetOutsideError',
  code: 'CV_IPAM_SUBNET_OUTSIDE',
  isRetriable: false,
  remedy:
    'Set ipamConfig.podSubnetCIDR in contiv.conf to a network that contains the podCIDR of every node, the same on all nodes.',
});

/** Pods that a message names. */
const MAX_NAMED = 10;

/** @param outside running pods with addresses outside of the pod subnet of this node */
export function subnetProblems(
  { own, cluster }: Plan,
  outside: readonly AddressRecord[],
): readonly CodedError[] {
  const problems: CodedError[] = [];
  for (const [at, { pods }] of own.entries()) {
    const all = cluster.families[at]!.pods;
    if (!(pods.length >= all.length && contains(all, pods.family, pods.base)))
      problems.push(
        new PodSubnetOutsideError(
          `the pod subnet of this node, ${prefixText(pods)}, is outside of that of the cluster, ${prefixText(all)}: services and hosts cannot reach its pods`,
        ),
      );
  }
  if (outside.length > 0)
    problems.push(
      new PodOutsideSubnetError(
        `${podList(outside)} cannot be reached from other nodes: outside of ${own.map(({ pods }) => prefixText(pods)).join(',')}`,
      ),
    );
  return problems;
}

export function podList(records: readonly AddressRecord[]): string {
  const names = records
    .slice(0, MAX_NAMED)
    .map(({ pod, address }) => `${podIdText(pod)} (${address})`);
  const more = records.length - names.length;
  return more > 0 ? `${names.join(', ')} and ${more} more` : names.join(', ');
}
