/** The operations on ACLs by which each node of a cluster of manifests gets from one state to another. */
import type { Clock } from '#infra/clock/clock.ts';
import { Slices } from '#infra/clock/slices.ts';
import type { Node } from '#kubernetes/models/node.ts';
import type { Value } from '#kvscheduler/api/transaction.ts';
import { contivDefaults } from '#plugins/contivconf/config.ts';
import {
  renderedValues,
  type ValueOperation,
  valueOperations,
} from '#plugins/policy/connectivity/value-operations.ts';
import { PolicyProcessor } from '#plugins/policy/processor/policy-processor.ts';
import type { PolicyNode } from '#plugins/policy/rendered-state.ts';
import type { ManifestCluster } from './manifest-cluster.ts';

export interface NodeOperation extends ValueOperation {
  readonly node: string;
}

/** Sorted by node and key. */
export async function manifestOperations(
  before: ManifestCluster,
  after: ManifestCluster,
  clock: Clock,
): Promise<NodeOperation[]> {
  const nodes = new Set([before, after].flatMap(({ pods }) => Array.from(pods.values(), nodeOf)));
  const operations: NodeOperation[] = [];
  for (const node of [...nodes].sort()) {
    const old = await aclsOf(before, node, clock);
    const next = await aclsOf(after, node, clock);
    for (const operation of await valueOperations(old, next, new Slices(clock)))
      operations.push({ node, ...operation });
  }
  return operations;
}

function nodeOf({ node }: { readonly node: string }): string {
  return node;
}

/** The interfaces of VPP are not in manifests: those of pods have the names of the pods. */
async function aclsOf(
  { kube, pods }: ManifestCluster,
  node: string,
  clock: Clock,
): Promise<ReadonlyMap<string, Value>> {
  const attached = new Map(
    [...pods]
      .filter(([, pod]) => pod.node === node)
      .map(([pod, { addresses, uid }]) => [pod, { pod, podUid: uid, addresses }]),
  );
  const processor = await PolicyProcessor.read(kube, attached, new Slices(clock));
  const rendered = new Map(
    Array.from(processor.policies(), ([pod, policy]) => [pod, { policy, interface: pod }]),
  );
  const state = { node: policyNode(kube, node), pods: rendered, services: new Map() };
  return renderedValues(state, clock);
}

function policyNode(kube: ManifestCluster['kube'], name: string): PolicyNode {
  const records = [...(kube.get('node')?.values() ?? [])] as Node[];
  const record = records.find((one) => one.name === name);
  return {
    addresses: (record?.addresses ?? []).map(({ address }) => address),
    natLoopbacks: [],
    podSubnets: [contivDefaults.ipamConfig.podSubnetCIDR],
    interfaces: ['uplink'],
    nics: [],
    hostLink: '',
  };
}
