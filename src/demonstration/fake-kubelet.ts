/**
 * Replaces Kubernetes for the agent of the demonstration: writes the state that the manifests describe into the
 * store as the reflector does, creates a sandbox for each pod of this node, attaches it through the
 * real CNI socket, and writes the address into the Pod record and into the endpoints of its
 * services, as the API server does.
 */
import type { KvStore } from '#datastore/api.ts';
import type { Random } from '#infra/clock/clock.ts';
import type { Logger } from '#infra/log/log.ts';
import { endpointsOf, selectsPod } from '#kubernetes/reflector/backends.ts';
import { type Cluster, clusterOf } from '#kubernetes/reflector/cluster.ts';
import { readManifestFolder } from '#kubernetes/reflector/manifest-folder.ts';
import type { ManifestProblem } from '#kubernetes/reflector/manifest-problem.ts';
import { namespaceOf } from '#kubernetes/reflector/objects/meta.ts';
import type { KubePod } from '#kubernetes/reflector/objects/pod.ts';
import { reflect } from '#kubernetes/reflector/reflect.ts';
import { REFLECTOR_PREFIX, resourceList, resources } from '#kubernetes/resources/resources.ts';
import { valueText } from '#kubernetes/resources/value-text.ts';
import { addressIn, CniClient } from './cni-client.ts';

/** Address of the Node object, from a range for documentation: no packet is sent to it. */
const NODE_ADDRESS = '192.0.2.1';

export interface FakeKubeletDeps {
  readonly store: KvStore;
  /** Folder with manifests, which are read in the order of their names. */
  readonly manifests: string;
  readonly nodeName: string;
  readonly serviceCidr: string;
  /** Creates the network namespace of a sandbox. */
  readonly addNamespace: (path: string) => void;
  readonly random: Random;
  readonly log: Logger;
}

/** The address of an attached pod, or the error of the attempt. */
export interface PodAttachment {
  readonly name: string;
  readonly address: string | undefined;
  readonly error: string | undefined;
}

export class FakeKubelet {
  readonly #deps: FakeKubeletDeps;
  readonly #cluster: Cluster;
  /** Content of the manifests that is ignored, with file and line. */
  readonly problems: readonly ManifestProblem[];

  /** Reads the manifests. @throws ManifestsError */
  constructor(deps: FakeKubeletDeps) {
    this.#deps = deps;
    const { objects, problems } = readManifestFolder(deps.manifests);
    this.#cluster = clusterOf(objects, {
      node: { name: deps.nodeName, address: NODE_ADDRESS },
      serviceCidr: deps.serviceCidr,
      readers: 'own',
    });
    this.problems = [...problems, ...this.#cluster.problems];
  }

  /**
   * Replaces the reflected state in the store with that of the manifests. Records that agents write
   * (node IDs) stay.
   */
  async fillStore(): Promise<void> {
    const { store } = this.#deps;
    const changes = new Map<string, string | undefined>();
    for (const resource of resourceList) {
      if (writtenByAgents.has(resource.keyword)) continue;
      const { entries } = await store.list(REFLECTOR_PREFIX + resource.keyPrefix);
      for (const { key } of entries) changes.set(key, undefined);
      for (const [key, value] of Object.entries(this.#cluster.state[resource.keyword] ?? {}))
        changes.set(REFLECTOR_PREFIX + key, valueText(resource, value));
    }
    await store.putAll(changes);
  }

  /** Attaches the pods of this node one after the other, as kubelet does at the start of a node. */
  async startPods(socketPath: string): Promise<PodAttachment[]> {
    const client = new CniClient(socketPath);
    const pods = new Map(this.#cluster.pods.map((pod) => [podName(pod), pod]));
    const attachments: PodAttachment[] = [];
    try {
      for (const pod of this.#cluster.localPods) {
        const result = await this.#attach(client, pod);
        attachments.push(result);
        if (result.address === undefined) continue;
        const running = withAddress(pod, result.address);
        pods.set(podName(pod), running);
        await this.#publish(running, [...pods.values()]);
      }
    } finally {
      client.close();
    }
    return attachments;
  }

  async #attach(client: CniClient, pod: KubePod): Promise<PodAttachment> {
    const { addNamespace, random, log } = this.#deps;
    const name = podName(pod);
    const containerId = Buffer.from(random.bytes(32)).toString('hex');
    const namespace = `/run/netns/cni-${containerId.slice(0, 12)}`;
    addNamespace(namespace);
    const reply = await client.add({
      version: '1.1.0',
      container_id: containerId,
      network_namespace: namespace,
      interface_name: 'eth0',
      extra_arguments: [
        'IgnoreUnknown=1',
        `K8S_POD_NAMESPACE=${namespaceOf(pod)}`,
        `K8S_POD_NAME=${pod.metadata.name}`,
        `K8S_POD_INFRA_CONTAINER_ID=${containerId}`,
        `K8S_POD_UID=${pod.metadata.uid ?? ''}`,
      ].join(';'),
    });
    if (reply.result !== 0) {
      log.error({ pod: name, error: reply.error }, 'attaching the pod failed');
      return { name, address: undefined, error: reply.error };
    }
    const address = addressIn(reply);
    return { name, address, error: address === undefined ? 'no address in the reply' : undefined };
  }

  /** Updates the Pod record and the endpoints of its services with the address of the pod. */
  async #publish(pod: KubePod, pods: readonly KubePod[]): Promise<void> {
    const { reflected } = reflect(pod, 'own');
    if (!reflected) return;
    const changes = new Map([
      [REFLECTOR_PREFIX + reflected.key, valueText(reflected.resource, reflected.value)],
    ]);
    for (const service of this.#cluster.services) {
      if (!selectsPod(service, pod)) continue;
      const value = endpointsOf(service, pods, 'own', this.#cluster.zones);
      const key = REFLECTOR_PREFIX + resources.endpoints.model.key(value);
      changes.set(key, valueText(resources.endpoints, value));
    }
    await this.#deps.store.putAll(changes);
  }
}

/** Resources that the reflector does not write. */
const writtenByAgents: ReadonlySet<string> = new Set(['vppnode', 'custom-ipam', 'idalloc']);

function podName(pod: KubePod): string {
  return `${namespaceOf(pod)}/${pod.metadata.name}`;
}

function withAddress(pod: KubePod, address: string): KubePod {
  const status = { ...pod.status, phase: 'Running', podIP: address, podIPs: [{ ip: address }] };
  return { ...pod, status };
}
