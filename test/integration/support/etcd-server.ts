/** An etcd on loopback, in a folder of its own, and an `etcd grpc-proxy` before it if a suite asks for it. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Etcd3 } from 'etcd3';
import { EtcdStore } from '#datastore/etcd/store.ts';
import { systemClock } from '#infra/clock/system.ts';
import { resume, suspend } from './suspend.ts';

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, 'close');
  return port;
}

/** Another process may take a port before etcd binds it. */
const ATTEMPTS = 5;

/** Ways from a client to etcd: the suites of the store run with each. */
export const etcdRoutes = { etcd: 'direct', 'etcd grpc-proxy': 'proxy' } as const;

export class EtcdServer {
  /** For clients. */
  readonly port: number;
  readonly #serverPort: number;
  #proxy: EtcdProxy | undefined;
  readonly #folder: string;
  readonly #peerPort: number;
  readonly #flags: () => readonly string[];
  #process: ChildProcess | undefined;

  static async start(...flags: string[]): Promise<EtcdServer> {
    for (let attempt = 1; ; attempt++) {
      const server = await EtcdServer.#make(() => flags);
      try {
        await server.run();
        return server;
      } catch (error) {
        await server.close();
        if (attempt === ATTEMPTS) throw error;
      }
    }
  }

  static async startWith(route: 'direct' | 'proxy'): Promise<EtcdServer> {
    if (route === 'direct') return await EtcdServer.start();
    for (let attempt = 1; ; attempt++) {
      const server = await EtcdServer.#make(() => [], await freePort());
      try {
        server.#proxy = EtcdProxy.start(server.#serverPort, server.port, server.#folder);
        await server.run();
        return server;
      } catch (error) {
        await server.close();
        if (attempt === ATTEMPTS) throw error;
      }
    }
  }

  /** Three members of one cluster. */
  static async startCluster(): Promise<EtcdServer[]> {
    const members: EtcdServer[] = [];
    // Evaluated at the start of each member, when all of them are known.
    const flags = (name: string) => () => [
      `--name=${name}`,
      `--initial-cluster=${members.map((each, at) => `m${at}=${each.#peerUrl}`).join(',')}`,
      '--heartbeat-interval=50',
      '--election-timeout=500',
    ];
    for (let attempt = 1; ; attempt++) {
      members.length = 0;
      for (const name of ['m0', 'm1', 'm2']) members.push(await EtcdServer.#make(flags(name)));
      try {
        await Promise.all(members.map((each) => each.run()));
        return members;
      } catch (error) {
        for (const each of members) await each.close();
        if (attempt === ATTEMPTS) throw error;
      }
    }
  }

  static async #make(flags: () => readonly string[], proxyPort?: number): Promise<EtcdServer> {
    const folder = await mkdtemp(join(tmpdir(), 'etcd-'));
    return new EtcdServer(folder, await freePort(), await freePort(), flags, proxyPort);
  }

  private constructor(
    folder: string,
    serverPort: number,
    peerPort: number,
    flags: () => readonly string[],
    proxyPort = serverPort,
  ) {
    this.#folder = folder;
    this.#serverPort = serverPort;
    this.port = proxyPort;
    this.#peerPort = peerPort;
    this.#flags = flags;
  }

  get pid(): number {
    return this.#process!.pid!;
  }

  /** Another proxy before it, which the caller closes. */
  async proxy(): Promise<EtcdProxy> {
    return EtcdProxy.start(this.#serverPort, await freePort(), this.#folder);
  }

  get #peerUrl(): string {
    return `http://127.0.0.1:${this.#peerPort}`;
  }

  /** Starts or restarts the process on the data of the folder. */
  async run(): Promise<void> {
    const flags = this.#flags();
    const secure = flags.some((flag) => flag.startsWith('--cert-file'));
    const url = `http${secure ? 's' : ''}://127.0.0.1:${this.#serverPort}`;
    const peer = this.#peerUrl;
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
        ...flags,
      ],
      { stdio: 'ignore' },
    );
    if (secure) return;
    const store = this.store();
    while ((await store.probe().catch((error) => error)) !== undefined) {
      for (const each of [this.#process, this.#proxy])
        if (each && each.exitCode !== null)
          throw new Error(`etcd ended with exit code ${each.exitCode}`);
      await systemClock.sleep(20);
    }
    await store.close();
  }

  /** @param operationTimeoutMs short by default, for tests of time limits */
  store(port = this.port, operationTimeoutMs = 1000): EtcdStore {
    return new EtcdStore(
      { endpoints: [`127.0.0.1:${port}`], operationTimeoutMs, reconnectIntervalMs: 200 },
      systemClock,
    );
  }

  async kill(): Promise<void> {
    const running = this.#process;
    this.#process = undefined;
    await end(running);
  }

  suspend(): Promise<void> {
    return suspend(this.#process!.pid!);
  }

  resume(): void {
    resume(this.#process!.pid!);
  }

  /** Ends the process and deletes the data; `run` starts an empty database. */
  async wipe(): Promise<void> {
    await this.kill();
    await rm(join(this.#folder, 'data'), { recursive: true, force: true });
  }

  /** Writes a backup to a file. @returns the revision of its last change */
  backup(file: string): number {
    this.#etcdctl('snapshot', 'save', file);
    const { revision } = JSON.parse(this.#etcdctl('snapshot', 'status', file, '--write-out=json'));
    return Number(revision);
  }

  /** Ends the process and replaces the data by a backup; `run` starts it. */
  async restore(file: string): Promise<void> {
    await this.wipe();
    this.#etcdctl(
      'snapshot',
      'restore',
      file,
      `--data-dir=${this.#folder}/data`,
      '--name=default',
      `--initial-cluster=default=${this.#peerUrl}`,
      `--initial-advertise-peer-urls=${this.#peerUrl}`,
    );
  }

  /** Whether this member is the leader. */
  isLeader(): boolean {
    const { leader, header } = this.#status();
    return leader === header.member_id;
  }

  /** Revision of the last change of this member. */
  revision(): number {
    return this.#status().header.revision;
  }

  #status(): { leader: number; header: { member_id: number; revision: number } } {
    const [{ Status }] = JSON.parse(this.#etcdctl('endpoint', 'status', '--write-out=json'));
    return Status;
  }

  #etcdctl(...args: string[]): string {
    const env = { ...process.env, ETCDCTL_API: '3' };
    const endpoint = `--endpoints=127.0.0.1:${this.#serverPort}`;
    const { status, stdout, stderr } = spawnSync('etcdctl', [endpoint, ...args], {
      env,
      encoding: 'utf8',
    });
    if (status !== 0) throw new Error(`etcdctl ${args.join(' ')}: ${stderr}`);
    return stdout;
  }

  /** Compacts the history up to now. */
  async compact(): Promise<void> {
    const client = new Etcd3({ hosts: `127.0.0.1:${this.#serverPort}` });
    const { header } = await client.kv.range({ key: Buffer.from('x') });
    await client.kv.compact({ revision: header.revision, physical: true });
    client.close();
  }

  async close(): Promise<void> {
    await this.#proxy?.close();
    await this.kill();
    await rm(this.#folder, { recursive: true, force: true });
  }
}

/** An `etcd grpc-proxy` before a server on loopback. */
export class EtcdProxy {
  readonly port: number;
  readonly #process: ChildProcess;

  /** @param folder its working folder */
  static start(serverPort: number, port: number, folder: string): EtcdProxy {
    return new EtcdProxy(serverPort, port, folder);
  }

  private constructor(serverPort: number, port: number, folder: string) {
    this.port = port;
    this.#process = spawn(
      'etcd',
      [
        'grpc-proxy',
        'start',
        `--endpoints=127.0.0.1:${serverPort}`,
        `--listen-addr=127.0.0.1:${port}`,
      ],
      { stdio: 'ignore', cwd: folder },
    );
  }

  get pid(): number {
    return this.#process.pid!;
  }

  /** null: it runs. */
  get exitCode(): number | null {
    return this.#process.exitCode;
  }

  close(): Promise<void> {
    return end(this.#process);
  }
}

async function end(running: ChildProcess | undefined): Promise<void> {
  if (!running || running.exitCode !== null || running.signalCode !== null) return;
  const exit = once(running, 'exit');
  running.kill('SIGKILL');
  await exit;
}
