/** A control group and a bpf file system of the test, and clients in them. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, rmdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '#infra/clock/system.ts';
import { silentLogger } from '#infra/log/log.ts';
import { BpfMap } from '#linux/bpf/map.ts';
import { kernelHost } from '#linux/kernel/host.ts';
import type { SocketTable } from '#linux/socket-services/api.ts';
import { LAYOUT_VERSION, shapes } from '#linux/socket-services/layout.ts';
import { openSocketTable } from '#linux/socket-services/open.ts';
import { Netns } from '../../support/netns.ts';
import type { Answer, Place, Request } from './client.ts';

export class SocketMachine {
  readonly #base: string;
  readonly #group: string;
  readonly #clients: SocketClient[] = [];
  readonly #kernel = kernelHost({ clock: systemClock });

  constructor() {
    this.#base = mkdtempSync(join(tmpdir(), 'cv-sockets-'));
    for (const [name, type] of [
      ['bpf', 'bpf'],
      ['cgroup', 'cgroup2'],
    ] as const) {
      mkdirSync(join(this.#base, name));
      execFileSync('mount', ['-t', type, 'none', join(this.#base, name)]);
    }
    const root = join(this.#base, 'cgroup');
    this.#group = join(root, `cv-test-${process.pid}`);
    mkdirSync(this.#group);
    // the group of the test in the place of the root, which has all processes of the machine
    execFileSync('mount', ['--bind', this.#group, root]);
  }

  /**
   * As an agent that starts: existing programs and maps are taken over.
   * @param endsSockets whether it lives long enough to end the sockets of removed backends
   */
  table(endsSockets = true): SocketTable {
    const sockets = endsSockets ? this.#kernel : { ...this.#kernel, namespaces: async () => [] };
    return openSocketTable(this.#base, { clock: systemClock, sockets, log: silentLogger });
  }

  /** Folder in the place of /sys/fs. */
  get sysFs(): string {
    return this.#base;
  }

  /** Folder of the control group. */
  get group(): string {
    return join(this.#base, 'cgroup');
  }

  /** Maps as an agent of another layout would leave them. */
  leaveOtherLayout(): void {
    const folder = join(this.#base, 'bpf/contiv-vswitch');
    const other = { kind: 'hash', keyLength: 4, valueLength: 4, maxEntries: 1 } as const;
    for (const path of [`maps-${LAYOUT_VERSION}`, 'maps-0']) {
      const file = join(folder, path, 'slots');
      mkdirSync(join(folder, path), { recursive: true });
      rmSync(file, { force: true });
      const map = BpfMap.create('cv_other', other);
      map.pin(file);
      map.close();
    }
  }

  /** Makes the kernel refuse the last of the programs, until all of them are removed. */
  spoilLink(): void {
    const path = join(this.#base, 'bpf/contiv-vswitch/release');
    rmSync(path);
    mkdirSync(path);
  }

  /** Names of the folders with maps. */
  layouts(): string[] {
    const folder = join(this.#base, 'bpf/contiv-vswitch');
    return readdirSync(folder).filter((name) => name.startsWith('maps-'));
  }

  /** Number of connected datagram sockets that programs know. */
  async connections(): Promise<number> {
    const path = join(this.#base, 'bpf/contiv-vswitch', `maps-${LAYOUT_VERSION}`, 'connections');
    const map = BpfMap.open(path, shapes.connections)!;
    const found = await map.entries(systemClock);
    map.close();
    return found.length;
  }

  /** A process in the group, in a network namespace of its own. */
  async client(): Promise<SocketClient> {
    const client = await SocketClient.start(join(this.#base, 'cgroup'));
    this.#clients.push(client);
    return client;
  }

  async close(): Promise<void> {
    for (const client of this.#clients) await client.close();
    execFileSync('umount', [join(this.#base, 'bpf')]);
    execFileSync('umount', [join(this.#base, 'cgroup')]);
    rmdirSync(this.#group);
    execFileSync('umount', [join(this.#base, 'cgroup')]);
    for (const name of ['bpf', 'cgroup', '']) rmdirSync(join(this.#base, name));
  }
}

export class SocketClient {
  readonly #process: ChildProcess;
  readonly #namespace: Netns;

  static async start(group: string): Promise<SocketClient> {
    const namespace = await Netns.create('sockets');
    const [command, ...args] = [
      ...namespace.enter,
      process.execPath,
      join(import.meta.dirname, 'client.ts'),
      group,
    ];
    const started = spawn(command!, args, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
    await once(started, 'message');
    return new SocketClient(started, namespace);
  }

  private constructor(process: ChildProcess, namespace: Netns) {
    this.#process = process;
    this.#namespace = namespace;
  }

  async request(request: Request): Promise<Answer> {
    this.#process.send(request);
    const [answer] = (await once(this.#process, 'message')) as [Answer];
    return answer;
  }

  /** An address of its namespace. */
  async addAddress(address: string): Promise<void> {
    await this.#namespace.run('ip', 'address', 'add', address, 'dev', 'lo');
  }

  async serve(...places: readonly Place[]): Promise<void> {
    for (const at of places) await this.request({ kind: 'serve', at });
  }

  async close(): Promise<void> {
    this.#process.disconnect();
    if (this.#process.exitCode === null) await once(this.#process, 'exit');
    await this.#namespace.remove();
  }
}
