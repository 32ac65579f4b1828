/** One state of a cluster: what its policies permit each of its pods, not only those of this node. */
import type { Slices } from '#infra/clock/slices.ts';
import type { ClusterNetworkPolicy } from '#kubernetes/models/cluster-network-policy.ts';
import type { Node } from '#kubernetes/models/node.ts';
import type { Policy, PolicyIpBlock } from '#kubernetes/models/policy.ts';
import type { KubeState } from '#plugins/controller/api/event-handler.ts';
import { AddressSet } from '../address-set.ts';
import type { OwnAddresses } from '../cache/node-table.ts';
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

/** The addresses of each network and of each node in the rules, by direction; invalid CIDRs are left out. */
export type AddressBlocks = Readonly<Record<PolicyDirection, readonly AddressSet[]>>;

/** Computes the policies of all pods as this node computes those of its own pods. */
export async function clusterPolicies(
  kube: KubeState,
  pods: ReadonlyMap<PodName, ClusterPod>,
  slices: Slices,
  ownAddresses: OwnAddresses = new Map(),
): Promise<ClusterPolicies> {
  const attached = new Map(
    Array.from(pods, ([pod, { addresses, uid }]) => [pod, { pod, podUid: uid, addresses }]),
  );
  const processor = await PolicyProcessor.read(kube, attached, slices, ownAddresses);
  const connected = new Map<PodName, ConnectedPod>();
  for (const [name, policy] of processor.policies())
    connected.set(name, { policy, owner: pods.get(name)?.owner });
  return {
    pods: connected,
    blocks: addressBlocks(kube, ownAddresses),
    problems: processor.problems(),
  };
}

function addressBlocks(kube: KubeState, ownAddresses: OwnAddresses): AddressBlocks {
  const ingress: AddressSet[] = [];
  const egress: AddressSet[] = [];
  for (const { ingress_rule, egress_rule } of recordsOf<Policy>(kube, 'policy')) {
    for (const { from } of ingress_rule) ingress.push(...blocksOf(from));
    for (const { to } of egress_rule) egress.push(...blocksOf(to));
  }
  let hasNodes = false;
  for (const policy of recordsOf<ClusterNetworkPolicy>(kube, 'clusternetworkpolicy')) {
    for (const { networks, nodes } of policy.egress.flatMap(({ peer }) => peer)) {
      if (networks !== undefined)
        egress.push(...networks.cidr.map((cidr) => AddressSet.of([cidr])));
      if (nodes !== undefined) hasNodes = true;
    }
  }
  if (!hasNodes) return { ingress, egress };
  for (const { addresses } of recordsOf<Node>(kube, 'node'))
    egress.push(...addresses.map(({ address }) => AddressSet.of([address])));
  for (const addresses of ownAddresses.values())
    egress.push(...addresses.map((one) => AddressSet.of([one])));
  return { ingress, egress };
}

function recordsOf<T>(kube: KubeState, keyword: string): Iterable<T> {
  return (kube.get(keyword)?.values() ?? []) as Iterable<T>;
}

function blocksOf(peers: readonly { readonly ip_block?: PolicyIpBlock }[]): AddressSet[] {
  return peers.flatMap(({ ip_block }) =>
    ip_block === undefined
      ? []
      : [AddressSet.of([ip_block.cidr]).minus(AddressSet.of(ip_block.except))],
  );
}
