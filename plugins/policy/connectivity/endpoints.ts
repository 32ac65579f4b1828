/**
 * The ends of connections as they are listed: workloads, pods and ranges of addresses outside of the cluster, in one
 * state of the cluster or in several that are compared.
 */
import type { Slices } from '#infra/clock/slices.ts';
import { type AddressNumber, AddressSet } from '../address-set.ts';
import type { PodName, PodPolicy, PolicyDirection } from '../pod-policy.ts';
import type { ClusterPolicies, ConnectedPod } from './cluster-policies.ts';
import { outsideRanges, rangeText } from './outside-ranges.ts';
import { podClasses } from './pod-classes.ts';

export type Endpoint = PodEndpoint | OutsideEndpoint;

/** Pods of one workload that policies treat alike in each state, or one pod. */
export interface PodEndpoint {
  /** For example `default/web[Deployment]`. */
  readonly name: string;
  /** Sorted. */
  readonly pods: readonly PodName[];
  /** For each state, what is permitted each of the pods; undefined: they do not exist in it. */
  readonly policies: readonly (PodPolicy | undefined)[];
}

export interface OutsideEndpoint {
  /** For example `10.0.0.0-10.255.255.255[External]`. */
  readonly name: string;
  readonly address: AddressNumber;
}

/** Both sorted by name. Addresses outside are cut by the ipBlocks of the direction in which they occur. */
export interface Endpoints {
  readonly sources: readonly Endpoint[];
  readonly destinations: readonly Endpoint[];
}

export function isOutside(endpoint: Endpoint): endpoint is OutsideEndpoint {
  return 'address' in endpoint;
}

export async function endpointsOf(
  states: readonly ClusterPolicies[],
  slices: Slices,
): Promise<Endpoints> {
  const pods = await podEndpoints(states, slices);
  const addresses = AddressSet.ofAddresses(
    states.flatMap((state) => [...state.pods.values()].flatMap((pod) => pod.policy.addresses)),
  );
  const outside = (direction: PolicyDirection): OutsideEndpoint[] =>
    outsideRanges(
      states.flatMap(({ blocks }) => blocks[direction]),
      addresses,
    ).map((range) => ({ name: `${rangeText(range)}[External]`, address: range.address }));
  return {
    sources: byName([...pods, ...outside('ingress')]),
    destinations: byName([...pods, ...outside('egress')]),
  };
}

async function podEndpoints(
  states: readonly ClusterPolicies[],
  slices: Slices,
): Promise<PodEndpoint[]> {
  const classes: ReadonlyMap<PodName, string>[] = [];
  for (const state of states) classes.push(await podClasses(state, slices));
  const names = new Set(states.flatMap(({ pods }) => [...pods.keys()]));
  const classOf = (pod: PodName): string => classes.map((of) => of.get(pod) ?? 'none').join('\n');
  const policiesOf = (pod: PodName) => states.map(({ pods }) => pods.get(pod)?.policy);
  const workloads = Map.groupBy([...names].sort(), (pod) =>
    workloadName(pod, states.findLast(({ pods }) => pods.has(pod))?.pods.get(pod)),
  );
  const endpoints: PodEndpoint[] = [];
  for (const [name, pods] of workloads) {
    if (slices.due()) await slices.turn();
    const areAlike = new Set(pods.map(classOf)).size === 1;
    // pods of a workload that policies distinguish, for example by the labels of each, are listed one by one
    if (areAlike) endpoints.push({ name, pods, policies: policiesOf(pods[0] as PodName) });
    else
      for (const pod of pods)
        endpoints.push({ name: `${pod}[Pod]`, pods: [pod], policies: policiesOf(pod) });
  }
  return endpoints;
}

function workloadName(pod: PodName, { owner }: Partial<ConnectedPod> = {}): string {
  if (owner === undefined) return `${pod}[Pod]`;
  return `${pod.slice(0, pod.indexOf('/'))}/${owner.name}[${owner.kind}]`;
}

function byName<T extends Endpoint>(endpoints: T[]): T[] {
  return endpoints.sort((a, b) => (a.name < b.name ? -1 : 1));
}
