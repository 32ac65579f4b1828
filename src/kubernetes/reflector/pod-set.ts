/** All pods of a set of manifests: the given ones, and those that workloads create. */
import { withPodDefaults } from './defaults.ts';
import type { KubeNode } from './objects/cluster.ts';
import { namespaceOf } from './objects/meta.ts';
import { hasEnded, type KubePod } from './objects/pod.ts';
import { displayName, ofKind, type SourcedObject } from './sourced-object.ts';
import { podsOf, stableUid } from './workloads.ts';

const workloadKinds = [
  'Deployment',
  'ReplicaSet',
  'ReplicationController',
  'DaemonSet',
  'StatefulSet',
  'Job',
  'CronJob',
] as const;

/**
 * @param nodeNames nodes of the pods that specify no other node: workloads use them in turn, single pods the first
 * @param nodes nodes with their host addresses
 */
export function podSet(
  given: readonly SourcedObject[],
  nodeNames: readonly [string, ...string[]],
  nodes: readonly KubeNode[],
): SourcedObject<KubePod>[] {
  const [thisNode] = nodeNames;
  const hosts = hostAddresses(nodes);
  const owners = ownersOf(given);
  const pods = new Map<string, SourcedObject<KubePod>>();
  for (const kind of workloadKinds) {
    for (const { object, source } of ofKind(given, kind)) {
      // an export of a cluster contains the workload and the objects that it created
      if (owners.has(ownerId(object.kind, displayName(object)))) continue;
      for (const pod of podsOf(object, nodeNames)) {
        pods.set(displayName(pod), { object: pod, source });
      }
    }
  }
  for (const pod of ofKind(given, 'Pod')) pods.set(displayName(pod.object), pod);
  return [...pods.values()].map(({ object, source }) => ({
    object: withScheduling(withPodDefaults(object), thisNode, hosts),
    source,
  }));
}

function hostAddresses(nodes: readonly KubeNode[]): ReadonlyMap<string, string> {
  return new Map(
    nodes.flatMap(({ metadata, status }): [string, string][] => {
      const found = status?.addresses?.find(({ type }) => type === 'InternalIP');
      return found === undefined ? [] : [[metadata.name, found.address]];
    }),
  );
}

function ownerId(kind: string, name: string): string {
  return `${kind} ${name}`;
}

function ownersOf(given: readonly SourcedObject[]): ReadonlySet<string> {
  return new Set(
    given.flatMap(({ object }) =>
      (object.metadata.ownerReferences ?? []).map(({ kind = '', name }) =>
        ownerId(kind, `${namespaceOf(object)}/${name}`),
      ),
    ),
  );
}

/** The pod with the fields that the scheduler and the kubelet set. */
function withScheduling(
  pod: KubePod,
  thisNode: string,
  hosts: ReadonlyMap<string, string>,
): KubePod {
  const nodeName = pod.spec?.nodeName || thisNode;
  const hostIP = pod.status?.hostIP ?? hosts.get(nodeName);
  const shared = pod.spec?.hostNetwork ? hostIP : undefined;
  return {
    ...pod,
    metadata: { uid: stableUid(namespaceOf(pod), pod.metadata.name), ...pod.metadata },
    spec: { ...pod.spec, nodeName },
    status: {
      ...(shared !== undefined && { podIP: shared }),
      ...pod.status,
      ...(hostIP !== undefined && { hostIP }),
    },
  };
}

/** Whether the node must start the pod and attach it to the network. */
export function isPodOf(nodeName: string, pod: KubePod): boolean {
  return pod.spec?.nodeName === nodeName && !pod.spec.hostNetwork && !hasEnded(pod);
}
