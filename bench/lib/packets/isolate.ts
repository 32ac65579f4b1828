import { resources } from '#kubernetes/resources/resources.ts';
import { block, policy, selector } from '#test/plugins/policy/policy-objects.ts';
import type { OurNode } from './our-node.ts';

/** Permits the receiving pod its sender, on this node and on the other one, by the last of as many rules. */
export async function isolate(
  { cluster, ends }: OurNode,
  rules: number | undefined,
): Promise<void> {
  const names = { name: 'bench', namespace: 'default' };
  const other = (n: number) => (ends.pod.includes(':') ? `2001:db8::${n * 2}` : unused(n));
  const peers = Array.from({ length: Math.max((rules ?? 1) - 2, 0) }, (_, n) =>
    hostBlock(other(n)),
  );
  const value =
    rules === undefined
      ? undefined
      : policy({
          ...names,
          pods: selector({ app: 'b' }),
          policy_type: 'INGRESS',
          ingress_rule: [{ from: [...peers, hostBlock(ends.remotePod), hostBlock(ends.pod)] }],
        });
  await cluster.write({ resource: resources.policy, ...names, value });
}

/** Addresses that no prefix unites. */
function unused(n: number): string {
  return `203.0.${n >> 7}.${(n & 127) * 2}`;
}

function hostBlock(address: string) {
  return block(`${address}/${address.includes(':') ? 128 : 32}`);
}
