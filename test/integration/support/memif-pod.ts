/** A pod whose network is a memif of the VPP of its node: a VPP of its own, and behind it a network namespace with its processes. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Netns } from './netns.ts';
import { vppIn } from './netns-vpp.ts';
import type { NetworkNamespace } from './traffic.ts';
import type { VppProcess } from './vpp-process.ts';

export interface MemifNetwork {
  /** Of the pod, with prefix length. */
  readonly address: string;
  /** Of the VPP of the node, without. */
  readonly gateway: string;
}

export class MemifPod implements AsyncDisposable {
  readonly place: NetworkNamespace;
  readonly #folder: string;
  readonly #sandbox: Netns;
  readonly #netns: Netns;
  readonly #vpp: VppProcess;

  static async create(networks: readonly MemifNetwork[]): Promise<MemifPod> {
    const pod = new MemifPod(await Netns.create('memif'), await Netns.create('memif-vpp'));
    try {
      await pod.#vpp.start();
      await pod.#connect(networks);
    } catch (error) {
      await pod[Symbol.asyncDispose]();
      throw error;
    }
    return pod;
  }

  private constructor(sandbox: Netns, netns: Netns) {
    this.#folder = mkdtempSync(join(tmpdir(), 'memif-'));
    this.#sandbox = sandbox;
    this.#netns = netns;
    this.place = sandbox;
    this.#vpp = vppIn(netns, join(this.#folder, 'vpp'));
  }

  /** At which the VPP of the node listens, with the number 0 of the memif. */
  get socketFile(): string {
    return join(this.#folder, 'memif.sock');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#vpp.remove();
    await this.#netns.remove();
    await this.#sandbox.remove();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  async #connect(networks: readonly MemifNetwork[]): Promise<void> {
    for (const command of [
      `create memif socket id 1 filename ${this.socketFile}`,
      'create interface memif socket-id 1 id 0 slave',
      `create tap id 0 host-ns ${this.#sandbox.name} host-if-name eth0`,
      'set interface state memif1/0 up',
      'set interface state tap0 up',
      'set interface l2 xconnect tap0 memif1/0',
      'set interface l2 xconnect memif1/0 tap0',
    ])
      await this.#vpp.cli(command);
    // a memif completes no checksums
    await this.#sandbox.run('ethtool', '-K', 'eth0', 'tx', 'off');
    await this.#sandbox.run('ip', 'link', 'set', 'eth0', 'up');
    for (const { address, gateway } of networks) {
      const nodad = address.includes(':') ? ['nodad'] : [];
      await this.#sandbox.run('ip', 'address', 'add', address, 'dev', 'eth0', ...nodad);
      await this.#sandbox.run('ip', 'route', 'add', 'default', 'via', gateway);
    }
  }
}
