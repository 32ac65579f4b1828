/** A change that is not made: its operations on the values of this node, and the states before and after it. */
import type { Clock } from '#infra/clock/clock.ts';
import type { Slices } from '#infra/clock/slices.ts';
import type { Value } from '#kvscheduler/api/transaction.ts';
import type { KubeState } from '#plugins/controller/api/event-handler.ts';
import type { AttachmentId } from '#plugins/podmanager/api.ts';
import type { PolicyApi, WiredPod } from '../api.ts';
import type { PodName } from '../pod-policy.ts';
import { type AttachedPod, PolicyProcessor } from '../processor/policy-processor.ts';
import type { PolicyRenderer, RenderedPod } from '../renderer.ts';
import { clusterPods, type UnlistedPod } from './cluster-pods.ts';
import { type ClusterPolicies, clusterPolicies } from './cluster-policies.ts';
import { renderedValues, type ValueOperation, valueOperations } from './value-operations.ts';

export interface PlanDeps {
  readonly policies: PolicyApi;
  /** A renderer like the one that carries the policies, without state. */
  readonly createRenderer: () => PolicyRenderer;
  readonly clock: Clock;
}

/** One state of Kubernetes. */
export interface RecordedCluster extends ClusterPolicies {
  readonly unlisted: readonly UnlistedPod[];
}

type AttachedPods = ReadonlyMap<AttachmentId, WiredPod>;

/** The policies of all pods, with the addresses that attached pods of this node really have. */
export async function recordedCluster(
  kube: KubeState,
  attached: AttachedPods,
  slices: Slices,
): Promise<RecordedCluster> {
  const local = new Map<PodName, AttachedPod>();
  for (const { pod } of attached.values()) local.set(pod.pod, pod);
  const { pods, unlisted } = await clusterPods(kube, local, slices);
  return { ...(await clusterPolicies(kube, pods, slices)), unlisted };
}

/** The operations on the values of this node, computed by copies of processor and renderer. */
export async function planOperations(
  deps: PlanDeps,
  before: KubeState,
  after: KubeState,
  slices: Slices,
): Promise<ValueOperation[]> {
  const attached = new Map(deps.policies.attachedPods());
  const old = await localValues(deps, before, attached, slices);
  const next = await localValues(deps, after, attached, slices);
  return valueOperations(old, next, slices);
}

async function localValues(
  { policies, createRenderer, clock }: PlanDeps,
  kube: KubeState,
  attached: AttachedPods,
  slices: Slices,
): Promise<ReadonlyMap<string, Value>> {
  const node = policies.node();
  if (node === undefined) return new Map();
  const processor = new PolicyProcessor();
  await processor.resync(kube, new Map(Array.from(attached, ([id, { pod }]) => [id, pod])), slices);
  const pods = new Map<AttachmentId, RenderedPod>();
  for (const [id, policy] of processor.policies()) {
    const name = attached.get(id)?.interface;
    if (name !== undefined) pods.set(id, { policy, interface: name });
  }
  const services = new Map(policies.masqueradedServices());
  return renderedValues(createRenderer(), { node, pods, services }, clock);
}
