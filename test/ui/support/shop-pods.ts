/** The pods of the shop by their workloads. */
import type { RunningAgent } from '#test/cmd/agent/harness.ts';

/** @returns the first pod of a workload, such as `storefront/web` */
export async function shopPods(shop: RunningAgent): Promise<(workload: string) => string> {
  const { body } = await shop.get('/contiv/v1/ipam/allocations');
  const { Pods } = body as { Pods: { PodID: { Name: string; Namespace: string } }[] };
  const names = Pods.map(({ PodID }) => `${PodID.Namespace}/${PodID.Name}`);
  return (workload) => {
    const found = names.find((name) => name.startsWith(`${workload}-`));
    if (found === undefined) throw new Error(`no pod of ${workload}`);
    return found;
  };
}
