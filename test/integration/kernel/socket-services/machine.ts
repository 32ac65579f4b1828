/** A control group and a bpf file system of the test, and clients in them. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { systemClock, systemRandom } from '#infra/clock/system.ts';
import { silentLogger } from '#infra/log/log.ts';
import { kernelHost } from '#linux/kernel/host.ts';
import type { SocketTable } from '#linux/socket-services/api.ts';
import { openSocketTable } from '#linux/socket-services/open.ts';
import type { DatagramSockets } from '#linux/socket-services/stale-sockets.ts';
import { Netns } from '../../support/netns.ts';
import { SocketFiles } from '../../support/socket-files.ts';
import { SysFs } from '../../support/sys-fs.ts';
import type { Answer, Place, Request } from './client.ts';

/** A client that has ended answers nothing. */
const ANSWER_LIMIT_MS = 60_000;

export class SocketMachine {
  readonly #sysFs = new SysFs();
  readonly #clients: SocketClient[] = [];
  readonly files = new SocketFiles(this.#sysFs.path);
  readonly #kernel = kernelHost({ clock: systemClock });
  #agents = 0;

  /**
   * As an agent that starts: existing programs and maps are taken over.
   * @param faults calls of the kernel that differ
   * @param hostNamespace cookie of the network namespace that stands for that of the host
   */
  table(faults: Partial<DatagramSockets> = {}, hostNamespace?: bigint): SocketTable {
    const all = { ...this.#kernel, ...faults };
    const agent = ++this.#agents;
    // those before have ended
    const namespaces = async () => (agent === this.#agents ? await all.namespaces() : []);
    const sockets = { ...all, namespaces };
    const deps = {
      clock: systemClock,
      random: systemRandom,
      sockets,
      hostNamespace,
      log: silentLogger,
    };
    return openSocketTable(this.sysFs, deps);
  }

  /** Folder in the place of /sys/fs. */
  get sysFs(): string {
    return this.#sysFs.path;
  }

  /** Folder of the control group. */
  get group(): string {
    return this.#sysFs.group;
  }

  /** Files and folders of the bpf file system go, as after `umount` and `mount`. */
  remountBpf(): void {
    this.#sysFs.remountBpf();
  }

  setBpfReadOnly(isReadOnly: boolean): void {
    this.#sysFs.setBpfReadOnly(isReadOnly);
  }

  /** A process in the group, in a network namespace of its own. */
  async client(): Promise<SocketClient> {
    const client = await SocketClient.start(this.group);
    this.#clients.push(client);
    return client;
  }

  async close(): Promise<void> {
    for (const client of this.#clients) await client.close();
    this.#sysFs[Symbol.dispose]();
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

  /** Path of its network namespace. */
  get namespace(): string {
    return this.#namespace.path;
  }

  async request(request: Request): Promise<Answer> {
    this.#process.send(request);
    const signal = AbortSignal.timeout(ANSWER_LIMIT_MS);
    const [answer] = (await once(this.#process, 'message', { signal })) as [Answer];
    return answer;
  }

  /** An address of its namespace. */
  async addAddress(address: string): Promise<void> {
    const options = address.includes(':') ? ['nodad'] : [];
    await this.#namespace.run('ip', 'address', 'add', address, 'dev', 'lo', ...options);
  }

  /** A link whose packets are lost, with an address, and a neighbor on it. */
  async addLossyLink(address: string, neighbor: string): Promise<void> {
    for (const command of [
      'link add lossy type veth peer name other',
      'link set other up',
      `address add ${address} dev lossy`,
      'link set lossy up',
      `neighbor add ${neighbor} lladdr 02:00:00:00:00:01 dev lossy`,
    ])
      await this.#namespace.run('ip', ...command.split(' '));
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
