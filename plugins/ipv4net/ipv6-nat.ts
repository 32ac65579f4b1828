/** Whether what leaves the cluster in IPv6 gets the address of the node as its source. */
import { type CodedError, defineError } from '#infra/errors/errors.ts';
import { isUniqueLocalIpv6, parseCidr } from '#models/ip.ts';
import type { ContivConfApi } from '#plugins/contivconf/api.ts';
import type { FamilyPlan } from '#plugins/ipam/api.ts';
import { CNAT_TABLE } from './api.ts';

export const Ipv6NatNotPossibleError = defineError({
  name: 'Ipv6NatNotPossibleError',
  code: 'CV_NET_IPV6_NAT_NOT_POSSIBLE',
  remedy:
    'Use VPP v26.06 or later, and mainVRFID: 0. Otherwise set natExternalTrafficIPv6: never, and lead the networks outside to the pod subnet.',
});

/** @param plan of IPv6 */
export function wantsSourceNat(
  conf: Pick<ContivConfApi, 'natExternalTrafficIPv6'>,
  plan: Pick<FamilyPlan, 'podSubnetAllNodes'>,
): boolean {
  const mode = conf.natExternalTrafficIPv6();
  if (mode !== 'unique-local') return mode === 'always';
  const subnet = parseCidr(plan.podSubnetAllNodes());
  return subnet !== undefined && isUniqueLocalIpv6(subnet.address);
}

/** @returns why it is not possible */
export function ipv6NatProblem(mainVrf: number, hasCnat: boolean): CodedError | undefined {
  const reason = !hasCnat
    ? 'this release of VPP does not translate sources of IPv6'
    : mainVrf !== CNAT_TABLE
      ? `VPP translates sources of IPv6 in table ${CNAT_TABLE} alone, and mainVRFID is ${mainVrf}`
      : undefined;
  return reason === undefined
    ? undefined
    : new Ipv6NatNotPossibleError(
        `${reason}: packets of pods leave the cluster with the addresses of the pods`,
      );
}
