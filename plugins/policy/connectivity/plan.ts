/** A change that is not made: its operations on the values of this node, and the states before and after it. */
import type { ServiceChange, UnlistedPod } from '#documents/connectivity.ts';
import type { Clock } from '#infra/clock/clock.ts';
import type { Slices } from '#infra/clock/slices.ts';
import type { Value } from '#kvscheduler/api/transaction.ts';
import type { KubeState } from '#plugins/controller/api/event-handler.ts';
import type { AttachmentId } from '#plugins/podmanager/api.ts';
import type { ServiceApi, ServiceName } from '#plugins/service/api.ts';
import type { PolicyApi, WiredPod } from '../api.ts';
import type { OwnAddresses } from '../cache/node-table.ts';
import type { PodName } from '../pod-policy.ts';
import { type AttachedPod, PolicyProcessor } from '../processor/policy-processor.ts';
import type { CheckedAddress, RenderedPod } from '../rendered-state.ts';
import type { ClusterChange } from './cluster-change.ts';
import { clusterPods } from './cluster-pods.ts';
import { type ClusterPolicies, clusterPolicies } from './cluster-policies.ts';
import { planServiceChange } from './service-plan.ts';
import { renderedValues, type ValueOperation, valueOperations } from './value-operations.ts';

export interface PlanDeps {
  readonly policies: PolicyApi;
  readonly services: Pick<ServiceApi, 'plannedServices'>;
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
  { attached, ownAddresses }: KnownNodes,
  slices: Slices,
): Promise<RecordedCluster> {
  const local = new Map<PodName, AttachedPod>();
  for (const { pod } of attached.values()) local.set(pod.pod, pod);
  const { pods, unlisted } = await clusterPods(kube, local, slices);
  return { ...(await clusterPolicies(kube, pods, slices, ownAddresses)), unlisted };
}

/** Knowledge of this node beside the records of Kubernetes. */
export interface KnownNodes {
  readonly attached: AttachedPods;
  readonly ownAddresses: OwnAddresses;
}

export function knownNodes(policies: Pick<PolicyApi, 'attachedPods' | 'ownAddresses'>): KnownNodes {
  return { attached: policies.attachedPods(), ownAddresses: policies.ownAddresses() };
}

export interface PlannedChange {
  /** On the values of this node, sorted by key. */
  readonly operations: readonly ValueOperation[];
  /** Services whose addresses or backends change. */
  readonly services: readonly ServiceChange[];
  /** Why services would not be carried as they are defined. */
  readonly problems: readonly string[];
}

/** Computed by other processors and renderers. */
export async function planChange(
  deps: PlanDeps,
  before: KubeState,
  { kube: after, services: touched }: Pick<ClusterChange, 'kube' | 'services'>,
  slices: Slices,
): Promise<PlannedChange> {
  const { policies, services, clock } = deps;
  const plan = await planServiceChange(services, { before, after }, touched, clock, slices);
  const attached = new Map(policies.attachedPods());
  const current = new Map(policies.checkedServices());
  const [checked, nextChecked] = plan?.checked ?? [current, current];
  const old = await localValues(deps, { kube: before, services: checked }, attached, slices);
  const next = await localValues(deps, { kube: after, services: nextChecked }, attached, slices);
  const acls = await valueOperations(old, next, slices);
  return {
    operations: [...(plan?.operations ?? []), ...acls].sort((a, b) => (a.key < b.key ? -1 : 1)),
    services: plan?.changes ?? [],
    problems: plan?.problems ?? [],
  };
}

interface LocalState {
  readonly kube: KubeState;
  readonly services: ReadonlyMap<ServiceName, readonly CheckedAddress[]>;
}

async function localValues(
  { policies, clock }: PlanDeps,
  { kube, services }: LocalState,
  attached: AttachedPods,
  slices: Slices,
): Promise<ReadonlyMap<string, Value>> {
  const node = policies.node();
  if (node === undefined) return new Map();
  const attachedPods = new Map(Array.from(attached, ([id, { pod }]) => [id, pod]));
  const processor = await PolicyProcessor.read(kube, attachedPods, slices, policies.ownAddresses());
  const pods = new Map<AttachmentId, RenderedPod>();
  for (const [id, policy] of processor.policies()) {
    const name = attached.get(id)?.interface;
    if (name !== undefined) pods.set(id, { policy, interface: name });
  }
  return renderedValues({ node, pods, services }, clock);
}
