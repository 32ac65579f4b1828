/** A cluster that a folder of manifests describes, with an address for each pod. */

import { namespaceModel } from '#kubernetes/models/namespace.ts';
import type { Pod } from '#kubernetes/models/pod.ts';
import { type Cluster, clusterOf } from '#kubernetes/reflector/cluster.ts';
import { readManifestFolder } from '#kubernetes/reflector/manifest-folder.ts';
import { problemText, type SourceLocation } from '#kubernetes/reflector/manifest-problem.ts';
import type { ManifestObject } from '#kubernetes/reflector/manifests.ts';
import { namespaceOf } from '#kubernetes/reflector/objects/meta.ts';
import { readObject } from '#kubernetes/reflector/objects/object.ts';
import {
  hasEnded,
  type KubePod,
  podAddresses,
  runtimeUid,
} from '#kubernetes/reflector/objects/pod.ts';
import { displayName } from '#kubernetes/reflector/sourced-object.ts';
import { resources } from '#kubernetes/resources/resources.ts';
import { contivDefaults } from '#plugins/contivconf/config.ts';
import type { KubeState } from '#plugins/controller/api/event-handler.ts';
import { AddressSet, addressNumber, formatAddress } from '#plugins/policy/address-set.ts';
import type { ClusterPod } from '#plugins/policy/connectivity/cluster-policies.ts';

export interface ManifestCluster {
  readonly kube: KubeState;
  /** By `<namespace>/<name>`, without those that have ended. */
  readonly pods: ReadonlyMap<string, ManifestPod>;
  /** With file and line. */
  readonly problems: readonly string[];
  /** By name of a policy, as problems have it. */
  readonly policySources: ReadonlyMap<string, SourceLocation>;
}

export interface ManifestPod extends ClusterPod {
  readonly node: string;
}

/** Of pods without one. */
const NODE = 'node';

/** @throws ManifestsError */
export function readManifestCluster(folder: string): ManifestCluster {
  const manifests = readManifestFolder(folder);
  const cluster = clusterOf(manifests.objects, {
    node: { name: NODE, address: '' },
    serviceCidr: contivDefaults.ipamConfig.serviceCIDR,
    readers: 'own',
  });
  const pods = podsOf(cluster);
  const records = new Map<string, object>();
  for (const [key, record] of Object.entries(cluster.state['pod'] ?? {}) as [string, Pod][]) {
    const pod = pods.get(`${record.namespace}/${record.name}`);
    if (pod) records.set(key, withAddresses(record, pod.addresses));
  }
  const inHostNetwork = cluster.pods.filter(({ spec }) => spec?.hostNetwork).map(podName);
  return {
    kube: new Map([
      ...Object.entries(cluster.state).map(
        ([keyword, values]) => [keyword, new Map(Object.entries(values))] as const,
      ),
      [resources.pod.keyword, records],
      [resources.namespace.keyword, namespacesOf(cluster, pods)],
    ]),
    pods,
    policySources: policySources(manifests.objects),
    problems: [
      ...[...manifests.problems, ...cluster.problems].map(problemText),
      ...inHostNetwork.map(
        (pod) =>
          `Pod ${pod}: listed as if it had a network of its own; no policy applies in that of a host`,
      ),
    ],
  };
}

/** In a folder each namespace is complete: one without an object has no labels. */
function namespacesOf(
  { state }: Cluster,
  pods: ReadonlyMap<string, ManifestPod>,
): ReadonlyMap<string, object> {
  const names = [...pods.keys()].map((pod) => pod.slice(0, pod.indexOf('/')));
  const records = names.map((name): [string, object] => [
    resources.namespace.key(name, ''),
    namespaceModel.canonical({ name }),
  ]);
  return new Map([...records, ...Object.entries(state[resources.namespace.keyword] ?? {})]);
}

function podsOf({ pods }: Cluster): ReadonlyMap<string, ManifestPod> {
  const addresses = new PodAddresses();
  const running = pods.filter((pod) => !hasEnded(pod));
  const own = running.map((pod) => addresses.ownOf(pod));
  return new Map(
    running.map((pod, at) => [
      podName(pod),
      {
        addresses: own[at] ?? [addresses.next()],
        uid: runtimeUid(pod),
        owner: ownerOf(pod),
        node: pod.spec?.nodeName ?? NODE,
      },
    ]),
  );
}

/** A node is the owner of the mirror pods of its static pods, which are different programs. */
function ownerOf({ metadata }: KubePod): ManifestPod['owner'] {
  const [owner] = metadata.ownerReferences ?? [];
  if (owner === undefined || owner.kind === 'Node') return undefined;
  return { kind: owner.kind ?? 'Pod', name: owner.name ?? '' };
}

function policySources(objects: readonly ManifestObject[]): ReadonlyMap<string, SourceLocation> {
  const sources = new Map<string, SourceLocation>();
  for (const { object: input, source } of objects) {
    const { object } = readObject(input);
    if (object?.kind === 'NetworkPolicy' || object?.kind === 'ClusterNetworkPolicy')
      sources.set(displayName(object), source);
  }
  return sources;
}

function podName(pod: KubePod): string {
  return `${namespaceOf(pod)}/${pod.metadata.name}`;
}

/**
 * A pod keeps the address that its status contains. The others get one of the pod subnet, because ipBlocks permit
 * pods as well.
 */
class PodAddresses {
  readonly #taken = new Set<string>();
  #last = AddressSet.of([contivDefaults.ipamConfig.podSubnetCIDR]).ranges()[0]!.first as number;

  /** undefined: it has none of its own. */
  ownOf(pod: KubePod): readonly string[] | undefined {
    const addresses = podAddresses(pod);
    const { hostIP } = pod.status ?? {};
    const isUnusable = addresses.some(
      (one) => one === hostIP || this.#taken.has(one) || addressNumber(one) === undefined,
    );
    if (addresses.length === 0 || isUnusable || pod.spec?.hostNetwork) return undefined;
    for (const address of addresses) this.#taken.add(address);
    return addresses;
  }

  /** Call it after `ownOf` of all pods. */
  next(): string {
    let text: string;
    do text = formatAddress(++this.#last);
    while (this.#taken.has(text));
    return text;
  }
}

function withAddresses(record: Pod, addresses: readonly string[]): Pod {
  const [main = ''] = addresses;
  return {
    ...record,
    ip_address: main,
    ip_addresses: addresses.length > 1 ? addresses : [],
    host_ip_address: '',
  };
}
