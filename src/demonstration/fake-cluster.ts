/**
 * Replaces the API server of Kubernetes and the reflector: writes the state that the manifests describe into the
 * store as the reflector does, and the addresses of running pods into their records and into the endpoints of their
 * services.
 */
import type { KvStore } from '#datastore/api.ts';
import { vppNodeModel } from '#kubernetes/models/vpp-node.ts';
import { endpointsOf, selectsPod } from '#kubernetes/reflector/backends.ts';
import { type Cluster, clusterOf } from '#kubernetes/reflector/cluster.ts';
import { readManifestFolder } from '#kubernetes/reflector/manifest-folder.ts';
import type { ManifestProblem } from '#kubernetes/reflector/manifest-problem.ts';
import { namespaceOf } from '#kubernetes/reflector/objects/meta.ts';
import type { KubePod } from '#kubernetes/reflector/objects/pod.ts';
import { isPodOf } from '#kubernetes/reflector/pod-set.ts';
import { reflect } from '#kubernetes/reflector/reflect.ts';
import { REFLECTOR_PREFIX, resourceList, resources } from '#kubernetes/resources/resources.ts';
import { valueText } from '#kubernetes/resources/value-text.ts';
import { type Client, trafficClients } from './traffic-ends.ts';

export interface FakeClusterDeps {
  readonly store: KvStore;
  /** Folder with manifests, which are read in the order of their names. */
  readonly manifests: string;
  /** Pods that name no node are spread over all. */
  readonly nodeNames: readonly [string, ...string[]];
  readonly serviceCidr: string;
}

export class FakeCluster {
  readonly #store: KvStore;
  readonly #cluster: Cluster;
  /** With the addresses that are known so far. */
  readonly #pods: Map<string, KubePod>;
  /** Content of the manifests that is ignored, with file and line. */
  readonly problems: readonly ManifestProblem[];

  /** Reads the manifests. @throws ManifestsError */
  constructor({ store, manifests, nodeNames, serviceCidr }: FakeClusterDeps) {
    const { objects, problems } = readManifestFolder(manifests);
    const [first, ...others] = nodeNames;
    this.#store = store;
    this.#cluster = clusterOf(objects, {
      node: { name: first, address: nodeAddress(0) },
      otherNodes: others.map((name, n) => ({ name, address: nodeAddress(n + 1) })),
      serviceCidr,
      readers: 'own',
    });
    this.#pods = new Map(this.#cluster.pods.map((pod) => [podName(pod), pod]));
    this.problems = [...problems, ...this.#cluster.problems];
  }

  /**
   * Replaces the reflected state in the store with that of the manifests. Records that agents write
   * (node IDs) stay, except those of nodes that an earlier cluster had.
   */
  async fillStore(): Promise<void> {
    const changes = new Map<string, string | undefined>();
    for (const key of await this.#keysOfGoneNodes()) changes.set(key, undefined);
    for (const resource of resourceList) {
      if (writtenByAgents.has(resource.keyword)) continue;
      const { entries } = await this.#store.list(REFLECTOR_PREFIX + resource.keyPrefix);
      for (const { key } of entries) changes.set(key, undefined);
      for (const [key, value] of Object.entries(this.#cluster.state[resource.keyword] ?? {}))
        changes.set(REFLECTOR_PREFIX + key, valueText(resource, value));
    }
    await this.#store.putAll(changes);
  }

  async #keysOfGoneNodes(): Promise<string[]> {
    const { vppnode, node } = resources;
    const known = this.#cluster.state[node.keyword] ?? {};
    const { entries } = await this.#store.list(REFLECTOR_PREFIX + vppnode.keyPrefix);
    return entries.flatMap(({ key, value }) => {
      const { name } = vppNodeModel.parseKnown(JSON.parse(value), key).value;
      return node.key(name, '') in known ? [] : [key];
    });
  }

  /** Pods that the node must start and attach to the network. */
  podsOf(nodeName: string): KubePod[] {
    return this.#cluster.pods.filter((pod) => isPodOf(nodeName, pod));
  }

  /** @param nodeAddresses of the VPPs of the nodes */
  trafficClients(nodeAddresses: readonly string[]): Client[] {
    return trafficClients([...this.#pods.values()], this.#cluster.services, nodeAddresses);
  }

  /** Updates the record of a pod, and the endpoints of its services, with its address. */
  async setAddress(pod: KubePod, address: string): Promise<void> {
    const status = { ...pod.status, phase: 'Running', podIP: address, podIPs: [{ ip: address }] };
    const running = { ...pod, status };
    this.#pods.set(podName(pod), running);
    const { reflected } = reflect(running, 'own');
    if (!reflected) return;
    const changes = new Map([
      [REFLECTOR_PREFIX + reflected.key, valueText(reflected.resource, reflected.value)],
    ]);
    for (const service of this.#cluster.services) {
      if (!selectsPod(service, running)) continue;
      const value = endpointsOf(service, [...this.#pods.values()], 'own', this.#cluster.zones);
      const key = REFLECTOR_PREFIX + resources.endpoints.model.key(value);
      changes.set(key, valueText(resources.endpoints, value));
    }
    await this.#store.putAll(changes);
  }
}

/** Of the Node object, from a range for documentation: no packet is sent to it. */
function nodeAddress(index: number): string {
  return `192.0.2.${index + 1}`;
}

/** Resources that the reflector does not write. */
const writtenByAgents: ReadonlySet<string> = new Set(['vppnode', 'custom-ipam', 'idalloc']);

export function podName(pod: KubePod): string {
  return `${namespaceOf(pod)}/${pod.metadata.name}`;
}
