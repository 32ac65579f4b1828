/** Sandboxes of pods as a container runtime makes them, and what it tells the CNI about them. */
import { randomBytes } from 'node:crypto';
import { statSync } from 'node:fs';
import { Netns, runIn } from './netns.ts';

export class Sandbox {
  readonly pod: string;
  readonly containerId = randomBytes(32).toString('hex');
  readonly #netns: Netns;
  /** Plain; what the CNI answered. */
  address = '';

  static async create(pod: string): Promise<Sandbox> {
    return new Sandbox(pod, await Netns.create('pod'));
  }

  private constructor(pod: string, netns: Netns) {
    this.pod = pod;
    this.#netns = netns;
  }

  get path(): string {
    return this.#netns.path;
  }

  get inode(): number {
    return statSync(this.path).ino;
  }

  /** What contiv-cni sends; `path` when the runtime names the namespace otherwise. */
  request(path = this.path) {
    return {
      version: '1.1.0',
      container_id: this.containerId,
      network_namespace: path,
      interface_name: 'eth0',
      extra_arguments: [
        'IgnoreUnknown=1',
        'K8S_POD_NAMESPACE=default',
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
