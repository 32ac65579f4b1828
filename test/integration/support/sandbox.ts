/** A pod sandbox as a container runtime creates it, and the CNI requests for it. */
import { randomBytes } from 'node:crypto';
import { statSync } from 'node:fs';
import { Netns, runIn } from './netns.ts';

export class Sandbox {
  readonly pod: string;
  readonly namespace: string;
  readonly containerId = randomBytes(32).toString('hex');
  readonly #netns: Netns;
  /** From the CNI reply, without prefix length. */
  address = '';
  /** All of them, in the order of the reply. */
  addresses: readonly string[] = [];

  /** The one of a family. */
  addressOf(family: 4 | 6): string {
    return this.addresses.find((one) => one.includes(':') === (family === 6)) ?? '';
  }

  static async create(pod: string, namespace = 'default'): Promise<Sandbox> {
    return new Sandbox(pod, namespace, await Netns.create('pod'));
  }

  private constructor(pod: string, namespace: string, netns: Netns) {
    this.pod = pod;
    this.namespace = namespace;
    this.#netns = netns;
  }

  get path(): string {
    return this.#netns.path;
  }

  get inode(): number {
    return statSync(this.path).ino;
  }

  /** The request of contiv-cni. @param path of the namespace, if the runtime uses another one */
  request(path = this.path) {
    return {
      version: '1.1.0',
      container_id: this.containerId,
      network_namespace: path,
      interface_name: 'eth0',
      extra_arguments: [
        'IgnoreUnknown=1',
        `K8S_POD_NAMESPACE=${this.namespace}`,
        `K8S_POD_NAME=${this.pod}`,
        `K8S_POD_INFRA_CONTAINER_ID=${this.containerId}`,
      ].join(';'),
    };
  }

  run(...command: readonly string[]): Promise<string> {
    return runIn(this.path, ...command);
  }

  remove(): Promise<void> {
    return this.#netns.remove();
  }
}
