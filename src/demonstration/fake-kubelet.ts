/**
 * Replaces kubelet and the container runtime of a node: creates a sandbox for each pod of the node and attaches it
 * through the real CNI socket.
 */
import type { Random } from '#infra/clock/clock.ts';
import type { Logger } from '#infra/log/log.ts';
import { namespaceOf } from '#kubernetes/reflector/objects/meta.ts';
import type { KubePod } from '#kubernetes/reflector/objects/pod.ts';
import { addressIn, CniClient } from './cni-client.ts';
import { type FakeCluster, podName } from './fake-cluster.ts';

export interface FakeKubeletDeps {
  readonly cluster: Pick<FakeCluster, 'podsOf' | 'setAddress'>;
  readonly nodeName: string;
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

  constructor(deps: FakeKubeletDeps) {
    this.#deps = deps;
  }

  /** Attaches the pods of the node one after the other, as kubelet does at the start of a node. */
  async startPods(socketPath: string): Promise<PodAttachment[]> {
    const { cluster, nodeName } = this.#deps;
    const client = new CniClient(socketPath);
    const attachments: PodAttachment[] = [];
    try {
      for (const pod of cluster.podsOf(nodeName)) {
        const result = await this.#attach(client, pod);
        attachments.push(result);
        if (result.address !== undefined) await cluster.setAddress(pod, result.address);
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
}
