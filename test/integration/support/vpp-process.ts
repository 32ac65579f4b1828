/** A VPP of the test's own: small, without devices, in a folder that is removed with it. */
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { systemClock, systemRandom } from '#infra/clock/system.ts';
import { silentLogger } from '#infra/log/log.ts';
import { vhostNetLibrary } from '#test/support/vhost-net.ts';
import { isListening, until } from '#test/support/wait.ts';
import type { Connect } from '#vpp/binapi/api.ts';
import { BinapiClient } from '#vpp/binapi/client/client.ts';
import { unixConnect } from '#vpp/binapi/transport/unix.ts';
import { Background } from './background.ts';
import { leaveCore, withCoresFor, workerConfiguration } from './vpp-workers.ts';

const run = promisify(execFile);
/** Far more than it needs: on a busy machine it gets little of the CPU. */
const START_LIMIT_MS = 120_000;
/** For the same reason; a request that VPP never answers still ends the test. */
const patient = {
  replyTimeoutMs: 60_000,
  health: { intervalMs: 3000, timeoutMs: 3000, maxMisses: 20 },
} as const;

export interface VppOptions {
  /** Words before the command, each of which becomes the command: `nsenter --net=…`, `chrt …`. */
  readonly prefix?: readonly string[];
  /** Default: a new one. */
  readonly folder?: string;
  /** Appended to startup.conf. */
  readonly extraConfig?: string;
  /** Threads beside the main one; default 0. */
  readonly workers?: number;
  /** Words of the section statseg of startup.conf. */
  readonly statistics?: string;
}

export class VppProcess {
  readonly folder: string;
  readonly apiSocket: string;
  readonly #prefix: readonly string[];
  readonly #extraConfig: string;
  readonly #workers: number;
  readonly #statistics: string;
  #process: Background | undefined;

  constructor({
    prefix = [],
    folder,
    extraConfig = '',
    workers = 0,
    statistics = '',
  }: VppOptions = {}) {
    this.folder = folder ?? mkdtempSync(join(tmpdir(), 'vpp-'));
    this.apiSocket = join(this.folder, 'api.sock');
    this.#prefix = prefix;
    this.#extraConfig = extraConfig;
    this.#workers = workers;
    this.#statistics = statistics;
    mkdirSync(this.folder, { recursive: true });
  }

  /** Starts or restarts it; resolves when it accepts connections. */
  async start(): Promise<void> {
    for (const socket of ['api.sock', 'cli.sock', 'stats.sock'])
      rmSync(join(this.folder, socket), { force: true });
    const file = this.writeStartupConfiguration();
    this.#process = new Background([...this.command, '-c', file], {
      log: join(this.folder, 'vpp.log'),
    });
    const accepts = () => {
      this.assertRunning();
      return isListening(this.apiSocket);
    };
    await until('VPP accepts connections', accepts, START_LIMIT_MS);
    if (this.#workers > 0) await leaveCore(this.#process.pid);
  }

  /** The command without its arguments. */
  get command(): readonly string[] {
    const library = vhostNetLibrary();
    const preload = library === undefined ? [] : ['env', `LD_PRELOAD=${library}`];
    return [...this.#prefix, ...withCoresFor(this.#workers, this.folder), ...preload, 'vpp'];
  }

  /** @returns the file */
  writeStartupConfiguration(): string {
    const file = join(this.folder, 'startup.conf');
    const extra = `${workerConfiguration(this.#workers)}${this.#extraConfig}`;
    writeFileSync(file, startupConfiguration(this.folder, this.#statistics, extra));
    return file;
  }

  /** Throws with the end of its output when it has ended. */
  assertRunning(): void {
    this.#process!.assertRunning();
  }

  get connect(): Connect {
    return unixConnect(this.apiSocket, systemClock);
  }

  /** Path of the network namespace that it runs in. */
  get namespace(): string {
    return `/proc/${this.#process!.pid}/ns/net`;
  }

  /** Runs a command of its CLI, past the binary API. @returns what it printed */
  async cli(command: string): Promise<string> {
    const socket = join(this.folder, 'cli.sock');
    const { stdout } = await run('vppctl', ['-s', socket, ...command.split(' ')], {
      maxBuffer: 64 * 1024 * 1024,
    });
    return stdout;
  }

  /** A new connection. */
  async client(): Promise<BinapiClient> {
    const client = new BinapiClient({
      connect: this.connect,
      clock: systemClock,
      random: systemRandom,
      log: silentLogger,
      name: 'test',
      ...patient,
    });
    client.start();
    await client.whenConnected();
    return client;
  }

  /** Calls `use` with a connection that is closed afterwards. */
  async withClient<T>(use: (client: BinapiClient) => Promise<T>): Promise<T> {
    const client = await this.client();
    try {
      return await use(client);
    } finally {
      await client.close();
    }
  }

  suspend(): Promise<void> {
    return this.#process!.suspend();
  }

  resume(): void {
    this.#process!.resume();
  }

  /** Ends it as a crash does; resolves when the process has exited. */
  async kill(): Promise<void> {
    await this.#process?.end('SIGKILL');
  }

  /** Ends it and removes its folder. */
  async remove(): Promise<void> {
    await this.kill();
    for (const segment of ['global_vm', 'vpe-api'])
      rmSync(`/dev/shm/${basename(this.folder)}-${segment}`, { force: true });
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/**
 * A small VPP without devices, all of whose files are in the folder. Its buffers suffice for the
 * receive rings of 110 TAPs.
 */
function startupConfiguration(folder: string, statistics: string, extra: string): string {
  return `unix { nodaemon nosyslog runtime-dir ${folder} cli-listen ${folder}/cli.sock poll-sleep-usec 100 }
api-segment { prefix ${basename(folder)} }
socksvr { socket-name ${folder}/api.sock }
statseg { socket-name ${folder}/stats.sock ${statistics} }
memory { main-heap-size 512M main-heap-page-size 4k }
buffers { buffers-per-numa 40960 page-size 4k }
plugins { plugin dpdk_plugin.so { disable } }
${extra}`;
}

export interface IsolatedVpp {
  readonly client: BinapiClient;
  /** For further clients. */
  readonly connect: Connect;
  /** Path of the network namespace that it runs in. */
  readonly namespace: string;
  stop(): Promise<void>;
}

/** Starts a VPP in a new network namespace, and a client that is connected. */
export async function startIsolatedVpp(): Promise<IsolatedVpp> {
  const folder = mkdtempSync(join(tmpdir(), 'vpp-'));
  const vpp = new VppProcess({
    // `unshare` becomes VPP, so that the namespace is that of the process
    prefix: ['unshare', '--net'],
    folder,
    extraConfig: `punt { socket ${join(folder, 'punt.sock')} }\n`,
  });
  try {
    await vpp.start();
    const client = await vpp.client();
    return {
      client,
      connect: vpp.connect,
      namespace: vpp.namespace,
      async stop() {
        await client.close();
        await vpp.remove();
      },
    };
  } catch (error) {
    await vpp.remove();
    throw error;
  }
}
