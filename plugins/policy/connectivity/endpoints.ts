/**
 * The ends of connections as they are listed: workloads, pods and ranges of addresses outside of the cluster, in one
 * state of the cluster or in several that are compared.
 */
import { type Slices, sortInSlices, sortTextsInSlices } from '#infra/clock/slices.ts';
import { type AddressNumber, familyOf } from '../address-set.ts';
import type { PodName, PodPolicy, PolicyDirection } from '../pod-policy.ts';
import type { ClusterPolicies, PodOwner } from './cluster-policies.ts';
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
  const addresses = new Set<AddressNumber>();
  for (const state of states) {
    for (const { policy } of state.pods.values()) {
      if (slices.due()) await slices.turn();
      for (const address of policy.addresses) addresses.add(address);
    }
  }
  const families = new Set(Array.from(addresses, familyOf));
  const endpoints = async (direction: PolicyDirection): Promise<readonly Endpoint[]> => {
    const blocks = states.flatMap((state) => state.blocks[direction]);
    const outside = outsideRanges(blocks, families, addresses).map((range) => ({
      name: `${rangeText(range)}[External]`,
      address: range.address,
    }));
    return sortInSlices<Endpoint>([...pods, ...outside], byName, slices);
  };
  return { sources: await endpoints('ingress'), destinations: await endpoints('egress') };
}

async function podEndpoints(
  states: readonly ClusterPolicies[],
  slices: Slices,
): Promise<PodEndpoint[]> {
  const classes: ReadonlyMap<PodName, string>[] = [];
  for (const state of states) classes.push(await podClasses(state, slices));
  const classOf = (pod: PodName): string => classes.map((of) => of.get(pod) ?? 'none').join('\n');
  const policiesOf = (pod: PodName) => states.map(({ pods }) => pods.get(pod)?.policy);
  const endpoints: PodEndpoint[] = [];
  for (const [name, pods] of await workloadsOf(states, slices)) {
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

/** The pods of each workload, sorted. The last state in which a pod exists decides. */
async function workloadsOf(
  states: readonly ClusterPolicies[],
  slices: Slices,
): Promise<ReadonlyMap<string, readonly PodName[]>> {
  const names = new Map<PodName, string>();
  for (const { pods } of states) {
    for (const [pod, { owner }] of pods) {
      if (slices.due()) await slices.turn();
      names.set(pod, workloadName(pod, owner));
    }
  }
  const workloads = new Map<string, PodName[]>();
  for (const pod of await sortTextsInSlices([...names.keys()], slices)) {
    if (slices.due()) await slices.turn();
    const name = names.get(pod) as string;
    const pods = workloads.get(name);
    if (pods) pods.push(pod);
    else workloads.set(name, [pod]);
  }
  return workloads;
}

function workloadName(pod: PodName, owner: PodOwner | undefined): string {
  if (owner === undefined) return `${pod}[Pod]`;
  return `${pod.slice(0, pod.indexOf('/'))}/${owner.name}[${owner.kind}]`;
}

function byName(a: Endpoint, b: Endpoint): number {
  return compareTexts(a.name, b.name);
}

function compareTexts(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
