import type { Pod } from '#kubernetes/models/pod.ts';
import type { KubeState } from '#plugins/controller/api/event-handler.ts';

/** Node IDs derived from the addresses of running pods, in case all records are lost. */
export interface IdsOfPods {
  /** ID from which most pods of this node have their addresses. */
  readonly here: number | undefined;
  readonly elsewhere: ReadonlySet<number>;
}

/**
 * @param owner ID of the node that owns a pod address
 * @param ownAddresses management addresses that only this node has
 */
export function idsOfPods(
  state: KubeState,
  owner: (address: string) => number | undefined,
  ownAddresses: readonly string[],
): IdsOfPods {
  const here = new Map<number, number>();
  const elsewhere = new Set<number>();
  for (const value of state.get('pod')?.values() ?? []) {
    const pod = value as Pod;
    const id = owner(pod.ip_address);
    if (id === undefined) continue;
    if (ownAddresses.includes(pod.host_ip_address)) here.set(id, (here.get(id) ?? 0) + 1);
    else elsewhere.add(id);
  }
  const [most] = [...here].sort(([a, m], [b, n]) => n - m || a - b);
  return { here: most?.[0], elsewhere };
}
