/**
 * Computes the state that the reflector would write for a cluster with the given manifests. Pure: the
 * same manifests give the same state, in any order of the files.
 */
import { resources } from '../resources/resources.ts';
import { endpointsOf, selectsPods } from './backends.ts';
import { withNamespaceDefaults, withPolicyDefaults, withServiceDefaults } from './defaults.ts';
import { mergedSlices } from './endpoints.ts';
import { type KubeState, KubeStateBuilder } from './kube-state.ts';
import type { ManifestProblem } from './manifest-problem.ts';
import type { ManifestObject } from './manifests.ts';
import type { KubeNamespace, KubeNode } from './objects/cluster.ts';
import { type KubeEndpointSlice, serviceOfSlice } from './objects/endpoints.ts';
import { namespaceOf } from './objects/meta.ts';
import { readObject } from './objects/object.ts';
import type { KubePod } from './objects/pod.ts';
import type { KubeService } from './objects/service.ts';
import { podSet } from './pod-set.ts';
import type { Readers } from './reflected.ts';
import { remarksOf } from './remarks.ts';
import { withAllocations } from './service-ips.ts';
import {
  displayName,
  isNamespaced,
  ofKind,
  type SourcedObject,
  withoutDuplicates,
} from './sourced-object.ts';
import { type NodeZones, nodeZones } from './topology-hints.ts';

interface NodeOptions {
  readonly name: string;
  /** Plain address of the host; empty when unknown. */
  readonly address: string;
  readonly podCidr?: string;
}

export interface ClusterOptions {
  /** The node of all pods that do not specify another node. */
  readonly node: NodeOptions;
  /** Nodes over which such pods are spread, too; default: none. */
  readonly otherNodes?: readonly NodeOptions[];
  /** CIDR from which services without an address get one. */
  readonly serviceCidr: string;
  readonly readers: Readers;
}

export interface Cluster {
  readonly state: KubeState;
  readonly problems: readonly ManifestProblem[];
  /** All pods, including those in the host network and on other nodes. */
  readonly pods: readonly KubePod[];
  /** Services whose endpoints are computed from pods: recompute them when a pod changes. */
  readonly services: readonly KubeService[];
  /** Needed to compute them. */
  readonly zones: NodeZones;
}

export function clusterOf(manifests: readonly ManifestObject[], options: ClusterOptions): Cluster {
  const problems: ManifestProblem[] = [];
  const given = withoutDuplicates(readAll(manifests, problems), problems);
  const nodes = nodesOf(given, options);
  const nodeObjects = nodes.map(({ object }) => object);
  const zones = nodeZones(nodeObjects);
  const otherNames = (options.otherNodes ?? []).map(({ name }) => name);
  const pods = podSet(given, [options.node.name, ...otherNames], nodeObjects);
  const services = servicesOf(given, options, problems);

  const state = new KubeStateBuilder(options.readers, problems);
  for (const one of [...namespacesOf(given), ...nodes, ...pods, ...services]) state.reflect(one);
  for (const { object, source } of ofKind(given, 'NetworkPolicy')) {
    state.reflect({ object: withPolicyDefaults(object), source });
  }
  for (const kind of customResourceKinds) for (const one of ofKind(given, kind)) state.reflect(one);
  for (const endpoints of ofKind(given, 'Endpoints')) state.reflect(endpoints);
  addSlices(state, given, options.readers);
  const allPods = pods.map(({ object }) => object);
  return {
    services: addBackends(state, services, allPods, options.readers, zones),
    zones,
    state: state.done(),
    problems,
    pods: allPods,
  };
}

const customResourceKinds = [
  'ClusterNetworkPolicy',
  'NodeConfig',
  'CustomNetwork',
  'ExternalInterface',
  'ServiceFunctionChain',
] as const;

function readAll(
  manifests: readonly ManifestObject[],
  problems: ManifestProblem[],
): SourcedObject[] {
  return manifests.flatMap(({ object: input, source }) => {
    const read = readObject(input);
    if (read.rejection !== undefined) {
      problems.push({ ...source, ...read.rejection });
      return [];
    }
    const { object } = read;
    for (const reason of remarksOf(object)) {
      problems.push({ ...source, kind: object.kind, name: displayName(object), reason });
    }
    return [{ object, source }];
  });
}

const generatedSource = { file: '', document: 0, line: 0 };

function nodesOf(
  given: readonly SourcedObject[],
  { node, otherNodes = [] }: ClusterOptions,
): SourcedObject<KubeNode>[] {
  const nodes = ofKind(given, 'Node');
  const names = new Set(nodes.map(({ object }) => object.metadata.name));
  const missing = [node, ...otherNodes].filter(({ name }) => !names.has(name));
  return [
    ...nodes,
    ...missing.map((one) => ({ object: nodeObject(one), source: generatedSource })),
  ];
}

function nodeObject({ name, address, podCidr }: NodeOptions): KubeNode {
  const addresses = [
    ...(address === '' ? [] : [{ type: 'InternalIP', address }]),
    { type: 'Hostname', address: name },
  ];
  return {
    kind: 'Node',
    // kubelet sets it
    metadata: { name, labels: { 'kubernetes.io/hostname': name } },
    spec: { ...(podCidr !== undefined && { podCIDR: podCidr }) },
    status: { addresses },
  };
}

/** The given namespaces, and those of the given objects. */
function namespacesOf(given: readonly SourcedObject[]): SourcedObject<KubeNamespace>[] {
  const namespaces = new Map<string, SourcedObject<KubeNamespace>>();
  for (const { object, source } of given) {
    if (!isNamespaced(object)) continue;
    const metadata = { name: namespaceOf(object) };
    namespaces.set(metadata.name, { object: { kind: 'Namespace', metadata }, source });
  }
  for (const one of ofKind(given, 'Namespace')) namespaces.set(one.object.metadata.name, one);
  return [...namespaces.values()].map(({ object, source }) => ({
    object: withNamespaceDefaults(object),
    source,
  }));
}

function servicesOf(
  given: readonly SourcedObject[],
  options: ClusterOptions,
  problems: ManifestProblem[],
): SourcedObject<KubeService>[] {
  const services = ofKind(given, 'Service').map(({ object, source }) => ({
    object: withServiceDefaults(object),
    source,
  }));
  return withAllocations(services, options.serviceCidr, problems);
}

/** Slices contain more data than an Endpoints object, so they override it. */
function addSlices(
  state: KubeStateBuilder,
  given: readonly SourcedObject[],
  readers: Readers,
): void {
  const slices = ofKind(given, 'EndpointSlice');
  const serviceName = (slice: KubeEndpointSlice): string => serviceOfSlice(slice) ?? '';
  const groups = Map.groupBy(
    slices,
    ({ object }) => `${namespaceOf(object)}/${serviceName(object)}`,
  );
  for (const group of groups.values()) {
    const [first] = group as [SourcedObject<KubeEndpointSlice>];
    const service = { name: serviceName(first.object), namespace: namespaceOf(first.object) };
    const objects = group.map(({ object }) => object);
    state.derive(first, resources.endpoints, () => mergedSlices(service, objects, readers));
  }
}

/** @returns the affected services: those with a selector and without given endpoints */
function addBackends(
  state: KubeStateBuilder,
  services: readonly SourcedObject<KubeService>[],
  pods: readonly KubePod[],
  readers: Readers,
  zones: NodeZones,
): KubeService[] {
  const near = Map.groupBy(pods, namespaceOf);
  const following = services.filter(
    ({ object }) => selectsPods(object) && !state.has(resources.endpoints, object),
  );
  for (const service of following) {
    const candidates = near.get(namespaceOf(service.object)) ?? [];
    state.derive(service, resources.endpoints, () =>
      endpointsOf(service.object, candidates, readers, zones),
    );
  }
  return following.map(({ object }) => object);
}
