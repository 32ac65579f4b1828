import type { ClusterPod } from '../command.ts';

/** @param all addresses of a pod, with the first one or without it */
export function furtherAddresses(
  first: string | undefined,
  all: readonly string[],
): Pick<ClusterPod, 'furtherAddresses'> {
  const further = all.filter((one) => one !== '' && one !== first);
  return further.length > 0 ? { furtherAddresses: further } : {};
}
