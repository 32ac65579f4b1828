/** An etcd of the test's own: on loopback, in a folder of its own, ended by its process id. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Etcd3 } from 'etcd3';
import { EtcdStore } from '#datastore/etcd/store.ts';
import { systemClock } from '#infra/clock/system.ts';

/** False when etcd can be run, else the reason to skip. */
export const withoutEtcd =
  spawnSync('etcd', ['--version']).status === 0
    ? false
    : 'needs the etcd binary: install etcd-server';

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, 'close');
  return port;
}

export class EtcdServer {
  readonly port: number;
  readonly #folder: string;
  readonly #peerPort: number;
  readonly #flags: readonly string[];
  #process: ChildProcess | undefined;

  static async start(...flags: string[]): Promise<EtcdServer> {
    const folder = await mkdtemp(join(tmpdir(), 'etcd-'));
    const server = new EtcdServer(folder, await freePort(), await freePort(), flags);
    await server.run();
    return server;
  }

  private constructor(folder: string, port: number, peerPort: number, flags: readonly string[]) {
    this.#folder = folder;
    this.port = port;
    this.#peerPort = peerPort;
    this.#flags = flags;
  }

  /** Starts the process again, on what is in the folder. */
  async run(): Promise<void> {
    const secure = this.#flags.some((flag) => flag.startsWith('--cert-file'));
    const url = `http${secure ? 's' : ''}://127.0.0.1:${this.port}`;
    const peer = `http://127.0.0.1:${this.#peerPort}`;
    this.#process = spawn(
      'etcd',
      [
        `--data-dir=${this.#folder}/data`,
        `--listen-client-urls=${url}`,
        `--advertise-client-urls=${url}`,
        `--listen-peer-urls=${peer}`,
        `--initial-advertise-peer-urls=${peer}`,
        `--initial-cluster=default=${peer}`,
        '--heartbeat-interval=10',
        '--election-timeout=100',
        ...this.#flags,
      ],
      { stdio: 'ignore' },
    );
    if (secure) return;
    const store = this.store();
    while ((await store.probe().catch((error) => error)) !== undefined) {
      if (this.#process.exitCode !== null)
        throw new Error(`etcd ended with exit code ${this.#process.exitCode}`);
      await systemClock.sleep(20);
    }
    await store.close();
  }

  store(port = this.port): EtcdStore {
    return new EtcdStore(
      { endpoints: [`127.0.0.1:${port}`], operationTimeoutMs: 1000, reconnectIntervalMs: 200 },
      systemClock,
    );
  }

  async kill(): Promise<void> {
    const running = this.#process;
    this.#process = undefined;
    if (!running || running.exitCode !== null || running.signalCode !== null) return;
    const exit = once(running, 'exit');
    running.kill('SIGKILL');
    await exit;
  }

  signal(signal: 'SIGSTOP' | 'SIGCONT'): void {
    this.#process?.kill(signal);
  }

  /** Ends the process and forgets the data; `run` starts an empty database in its place. */
  async wipe(): Promise<void> {
    await this.kill();
    await rm(join(this.#folder, 'data'), { recursive: true, force: true });
  }

  /** Forgets the whole history before now. */
  async compact(): Promise<void> {
    const client = new Etcd3({ hosts: `127.0.0.1:${this.port}` });
    const { header } = await client.kv.range({ key: Buffer.from('x') });
    await client.kv.compact({ revision: header.revision, physical: true });
    client.close();
  }

  async close(): Promise<void> {
    await this.kill();
    await rm(this.#folder, { recursive: true, force: true });
  }
}
