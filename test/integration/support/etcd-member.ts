/** One process of etcd on loopback, in a folder of its own: alone, or a member of a cluster. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Etcd3 } from 'etcd3';
import { endChild } from './end-child.ts';
import { freePort } from './free-port.ts';
import { resume, suspend } from './suspend.ts';

export interface EtcdMemberOptions {
  /** In the cluster; default: it is alone. */
  readonly name?: string;
  /** Names and members of the whole cluster, evaluated at each start; default: this one alone. */
  readonly cluster?: () => readonly (readonly [name: string, member: EtcdMember])[];
  readonly flags?: readonly string[];
}

export class EtcdMember {
  /** For clients. */
  readonly port: number;
  readonly folder: string;
  readonly name: string;
  /** Whether clients need TLS. */
  readonly isSecure: boolean;
  readonly #peerPort: number;
  readonly #flags: readonly string[];
  readonly #cluster: () => readonly (readonly [string, EtcdMember])[];
  #process: ChildProcess | undefined;

  /** It does not run yet. */
  static async create(options: EtcdMemberOptions = {}): Promise<EtcdMember> {
    const folder = await mkdtemp(join(tmpdir(), 'etcd-'));
    return new EtcdMember(folder, await freePort(), await freePort(), options);
  }

  private constructor(
    folder: string,
    port: number,
    peerPort: number,
    { name = 'default', cluster, flags = [] }: EtcdMemberOptions,
  ) {
    this.folder = folder;
    this.port = port;
    this.name = name;
    this.isSecure = flags.some((flag) => flag.startsWith('--cert-file'));
    this.#peerPort = peerPort;
    this.#flags = flags;
    this.#cluster = cluster ?? (() => [[name, this]]);
  }

  get pid(): number {
    return this.#process!.pid!;
  }

  /** It was started, and not killed since. */
  get isLaunched(): boolean {
    return this.#process !== undefined;
  }

  get #peerUrl(): string {
    return `http://127.0.0.1:${this.#peerPort}`;
  }

  get #initialCluster(): string {
    return this.#cluster()
      .map(([name, member]) => `${name}=${member.#peerUrl}`)
      .join(',');
  }

  /** Starts or restarts the process on the data of the folder; it does not answer yet. */
  launch(): void {
    const url = `http${this.isSecure ? 's' : ''}://127.0.0.1:${this.port}`;
    const isAlone = this.#cluster().length === 1;
    this.#process = spawn(
      'etcd',
      [
        `--name=${this.name}`,
        `--data-dir=${this.folder}/data`,
        `--listen-client-urls=${url}`,
        `--advertise-client-urls=${url}`,
        `--listen-peer-urls=${this.#peerUrl}`,
        `--initial-advertise-peer-urls=${this.#peerUrl}`,
        `--initial-cluster=${this.#initialCluster}`,
        `--heartbeat-interval=${isAlone ? 10 : 50}`,
        `--election-timeout=${isAlone ? 100 : 500}`,
        ...this.#flags,
      ],
      { stdio: 'ignore' },
    );
  }

  /** @throws if the process has ended: another one may have taken its port */
  assertRunning(): void {
    const { exitCode } = this.#process!;
    if (exitCode !== null) throw new Error(`etcd ended with exit code ${exitCode}`);
  }

  async kill(): Promise<void> {
    const running = this.#process;
    this.#process = undefined;
    await endChild(running);
  }

  suspend(): Promise<void> {
    return suspend(this.pid);
  }

  resume(): void {
    resume(this.pid);
  }

  /** Ends the process and deletes the data; its next start has an empty database. */
  async wipe(): Promise<void> {
    await this.kill();
    await rm(join(this.folder, 'data'), { recursive: true, force: true });
  }

  /** Writes a backup to a file. @returns the revision of its last change */
  backup(file: string): number {
    this.#etcdctl('snapshot', 'save', file);
    const { revision } = JSON.parse(this.#etcdctl('snapshot', 'status', file, '--write-out=json'));
    return Number(revision);
  }

  /** Ends the process and replaces the data by a backup. */
  async restore(file: string): Promise<void> {
    await this.wipe();
    this.#etcdctl(
      'snapshot',
      'restore',
      file,
      `--data-dir=${this.folder}/data`,
      `--name=${this.name}`,
      `--initial-cluster=${this.#initialCluster}`,
      `--initial-advertise-peer-urls=${this.#peerUrl}`,
    );
  }

  isLeader(): boolean {
    const { leader, header } = this.#status();
    return leader === header.member_id;
  }

  /** Revision of its last change. */
  revision(): number {
    return this.#status().header.revision;
  }

  #status(): { leader: number; header: { member_id: number; revision: number } } {
    const [{ Status }] = JSON.parse(this.#etcdctl('endpoint', 'status', '--write-out=json'));
    return Status;
  }

  #etcdctl(...args: string[]): string {
    const env = { ...process.env, ETCDCTL_API: '3' };
    const endpoint = `--endpoints=127.0.0.1:${this.port}`;
    const { status, stdout, stderr } = spawnSync('etcdctl', [endpoint, ...args], {
      env,
      encoding: 'utf8',
    });
    if (status !== 0) throw new Error(`etcdctl ${args.join(' ')}: ${stderr}`);
    return stdout;
  }

  /** Compacts the history up to now. */
  async compact(): Promise<void> {
    const client = new Etcd3({ hosts: `127.0.0.1:${this.port}` });
    const { header } = await client.kv.range({ key: Buffer.from('x') });
    await client.kv.compact({ revision: header.revision, physical: true });
    client.close();
  }

  async close(): Promise<void> {
    await this.kill();
    await rm(this.folder, { recursive: true, force: true });
  }
}
