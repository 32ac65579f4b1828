/** A VPP of our own for a test: small, without devices, in a folder that goes with it. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { accessSync, constants, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, delimiter, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const START_LIMIT_MS = 30_000;

function findVpp(): string | undefined {
  const folders = (process.env['PATH'] ?? '').split(delimiter);
  return folders
    .map((folder) => join(folder, 'vpp'))
    .find((file) => {
      try {
        accessSync(file, constants.X_OK);
        return true;
      } catch {
        return false;
      }
    });
}

const binary = findVpp();

/** `false`, or the line that says what to install. */
export const noVpp: string | false =
  binary === undefined ? 'no vpp in the PATH: install FD.io VPP 24.10, 25.10 or 26.06' : false;

export class VppProcess {
  readonly folder = mkdtempSync(join(tmpdir(), 'vpp-'));
  readonly apiSocket = join(this.folder, 'api.sock');
  readonly cliSocket = join(this.folder, 'cli.sock');
  readonly #more: string;
  #child: ChildProcess | undefined;
  #output = '';

  /** @param more of startup.conf */
  constructor(more = '') {
    this.#more = more;
  }

  /** Starts it, or starts it again; resolves when it listens. */
  async start(): Promise<void> {
    for (const socket of [this.apiSocket, this.cliSocket]) rmSync(socket, { force: true });
    const file = join(this.folder, 'startup.conf');
    writeFileSync(file, startupConfiguration(this.folder, this.#more));
    this.#output = '';
    const child = spawn(binary!, ['-c', file], { stdio: ['ignore', 'pipe', 'pipe'] });
    this.#child = child;
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (text) => {
        this.#output = (this.#output + text).slice(-4000);
      });
    const end = Date.now() + START_LIMIT_MS;
    while (!existsSync(this.apiSocket)) {
      if (child.exitCode !== null || Date.now() > end)
        throw new Error(`vpp does not start: ${this.#output}`);
      await sleep(20);
    }
  }

  /** `SIGKILL` ends it as a crash would; `SIGSTOP` and `SIGCONT` do not end it. */
  signal(signal: NodeJS.Signals): void {
    this.#child?.kill(signal);
  }

  /** Ends it; resolves when it is gone. */
  async kill(): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, 'exit');
    child.kill('SIGKILL');
    await gone;
  }

  /** Ends it and removes its folder. */
  async remove(): Promise<void> {
    await this.kill();
    for (const segment of ['global_vm', 'vpe-api'])
      rmSync(`/dev/shm/${basename(this.folder)}-${segment}`, { force: true });
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** A small VPP without devices, all of whose files are in the folder; `more` goes to its end. */
export function startupConfiguration(folder: string, more = ''): string {
  return `unix { nodaemon nosyslog runtime-dir ${folder} cli-listen ${folder}/cli.sock poll-sleep-usec 100 }
api-segment { prefix ${basename(folder)} }
socksvr { socket-name ${folder}/api.sock }
statseg { socket-name ${folder}/stats.sock }
memory { main-heap-size 512M main-heap-page-size 4k }
buffers { buffers-per-numa 16384 page-size 4k }
plugins { plugin dpdk_plugin.so { disable } }
${more}`;
}
