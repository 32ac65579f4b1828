/** An etcd in a network namespace: agents there connect by TCP, the test by a unix socket. */
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { Etcd3 } from 'etcd3';
import { EtcdStore } from '#datastore/etcd/store.ts';
import { systemClock } from '#infra/clock/system.ts';
import { until } from '#test/support/wait.ts';
import { Background } from './background.ts';
import type { Netns } from './netns.ts';

/** etcd accepts the path of a socket only in the form `host:port`, relative to its working directory. */
const SOCKET_NAME = 'client:0';

export class RealEtcd {
  /** Endpoint for agents in the namespace. */
  readonly endpoint: string;
  readonly #netns: Netns;
  readonly #folder: string;
  readonly #flags: readonly string[];
  readonly #store: EtcdStore;
  #process: Background | undefined;

  /**
   * @param address to listen on, in the namespace
   * @param flags of TLS, for the connections by TCP
   */
  constructor(netns: Netns, folder: string, address = '127.0.0.1', flags: readonly string[] = []) {
    this.#netns = netns;
    this.#folder = folder;
    this.#flags = flags;
    this.endpoint = `${address}:2379`;
    mkdirSync(folder, { recursive: true });
    this.#store = new EtcdStore(
      { endpoints: [this.socket], operationTimeoutMs: 1000 },
      systemClock,
    );
  }

  /** Endpoint for programs outside of the namespace. */
  get socket(): string {
    return `unix:${join(this.#folder, SOCKET_NAME)}`;
  }

  /** The store for the test. */
  get store(): EtcdStore {
    return this.#store;
  }

  async start(): Promise<void> {
    // A killed etcd leaves its socket.
    rmSync(join(this.#folder, SOCKET_NAME), { force: true });
    const url = `http${this.#flags.length > 0 ? 's' : ''}://${this.endpoint}`;
    const peer = 'http://127.0.0.1:2380';
    this.#process = new Background(
      [
        ...this.#netns.enter,
        'etcd',
        `--data-dir=${join(this.#folder, 'data')}`,
        `--listen-client-urls=${url},unix://${SOCKET_NAME}`,
        `--advertise-client-urls=${url}`,
        `--listen-peer-urls=${peer}`,
        `--initial-advertise-peer-urls=${peer}`,
        `--initial-cluster=default=${peer}`,
        '--heartbeat-interval=10',
        '--election-timeout=100',
        ...this.#flags,
      ],
      { log: join(this.#folder, 'etcd.log'), cwd: this.#folder },
    );
    await until('etcd answers', async () => {
      this.#process!.assertRunning();
      return this.#store.probe().then(
        () => true,
        () => false,
      );
    });
  }

  suspend(): Promise<void> {
    return this.#process!.suspend();
  }

  resume(): void {
    this.#process!.resume();
  }

  async kill(): Promise<void> {
    await this.#process?.end('SIGKILL');
  }

  /** Compacts the history up to now. */
  async compact(): Promise<void> {
    const client = new Etcd3({ hosts: this.socket });
    const { header } = await client.kv.range({ key: Buffer.from('x') });
    await client.kv.compact({ revision: header.revision, physical: true });
    client.close();
  }

  async close(): Promise<void> {
    await this.#store.close();
    await this.kill();
  }
}
