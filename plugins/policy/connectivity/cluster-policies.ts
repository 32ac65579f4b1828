/** One state of a cluster: what its policies permit each of its pods, not only those of this node. */
import type { Slices } from '#infra/clock/slices.ts';
import type { Policy, PolicyIpBlock } from '#kubernetes/models/policy.ts';
import type { KubeState } from '#plugins/controller/api/event-handler.ts';
import { AddressSet } from '../address-set.ts';
import type { PodName, PodPolicy, PolicyDirection, PolicyName } from '../pod-policy.ts';
import { PolicyProcessor } from '../processor/policy-processor.ts';

export interface ClusterPolicies {
  /** Pods with an address of their own. */
  readonly pods: ReadonlyMap<PodName, ConnectedPod>;
  readonly blocks: AddressBlocks;
  readonly problems: ReadonlyMap<PolicyName, readonly string[]>;
}

export interface ConnectedPod {
  readonly policy: PodPolicy;
  /** The workload that has created it; undefined: none, or unknown. */
  readonly owner: PodOwner | undefined;
}

/** A pod before its policies are known. */
export interface ClusterPod {
  /** At least one, which no other pod has. */
  readonly addresses: readonly string[];
  /** undefined: unknown. */
  readonly uid: string | undefined;
  readonly owner: PodOwner | undefined;
}

export interface PodOwner {
  /** For example `Deployment`. */
  readonly kind: string;
  readonly name: string;
}

/** The addresses of each ipBlock of the rules, by direction; those with an invalid CIDR are left out. */
export type AddressBlocks = Readonly<Record<PolicyDirection, readonly AddressSet[]>>;

/** Computes the policies of all pods as this node computes those of its own pods. */
export async function clusterPolicies(
  kube: KubeState,
  pods: ReadonlyMap<PodName, ClusterPod>,
  slices: Slices,
): Promise<ClusterPolicies> {
  const attached = new Map(
    Array.from(pods, ([pod, { addresses, uid }]) => [pod, { pod, podUid: uid, addresses }]),
  );
  const processor = await PolicyProcessor.read(kube, attached, slices);
  const connected = new Map<PodName, ConnectedPod>();
  for (const [name, policy] of processor.policies())
    connected.set(name, { policy, owner: pods.get(name)?.owner });
  return {
    pods: connected,
    blocks: addressBlocks((kube.get('policy')?.values() ?? []) as Iterable<Policy>),
    problems: processor.problems(),
  };
}

function addressBlocks(policies: Iterable<Policy>): AddressBlocks {
  const ingress: AddressSet[] = [];
  const egress: AddressSet[] = [];
  for (const { ingress_rule, egress_rule } of policies) {
    for (const { from } of ingress_rule) ingress.push(...blocksOf(from));
    for (const { to } of egress_rule) egress.push(...blocksOf(to));
  }
  return { ingress, egress };
}

function blocksOf(peers: readonly { readonly ip_block?: PolicyIpBlock }[]): AddressSet[] {
  return peers.flatMap(({ ip_block }) =>
    ip_block === undefined
      ? []
      : [AddressSet.of([ip_block.cidr]).minus(AddressSet.of(ip_block.except))],
  );
}
