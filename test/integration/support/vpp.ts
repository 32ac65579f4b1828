/** A VPP inside a namespace. */
import { execFile } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { systemClock, systemRandom } from '#infra/clock/system.ts';
import { silentLogger } from '#infra/log/log.ts';
import { until } from '#test/support/wait.ts';
import { BinapiClient } from '#vpp/binapi/client/client.ts';
import { unixConnect } from '#vpp/binapi/transport/unix.ts';
import { Background } from './background.ts';
import type { Netns } from './netns.ts';
import { startupConfiguration } from './vpp-process.ts';

const run = promisify(execFile);

export class RealVpp {
  readonly apiSocket: string;
  readonly #netns: Netns;
  readonly #folder: string;
  readonly #more: string;
  #process: Background | undefined;

  /** @param more of startup.conf */
  constructor(netns: Netns, folder: string, more = '') {
    this.#netns = netns;
    this.#folder = folder;
    this.#more = more;
    this.apiSocket = join(folder, 'api.sock');
    mkdirSync(folder, { recursive: true });
  }

  /** Starts it, or starts it again; resolves when it answers. */
  async start(): Promise<void> {
    for (const socket of ['api.sock', 'cli.sock', 'stats.sock'])
      rmSync(join(this.#folder, socket), { force: true });
    const file = join(this.#folder, 'startup.conf');
    writeFileSync(file, startupConfiguration(this.#folder, this.#more));
    // it has cores of its own in earnest; kept waiting for 160 ms it loses packets by itself
    const command = ['chrt', '--fifo', '10', ...this.#netns.enter, 'vpp', '-c', file];
    this.#process = new Background(command, { log: join(this.#folder, 'vpp.log') });
    await until('VPP listens', () => {
      this.#process!.assertRunning();
      return answers(this.apiSocket);
    });
  }

  /** Throws when it has crashed. */
  assertRunning(): void {
    this.#process!.assertRunning();
  }

  /** A command of its CLI, past the binary API. @returns what it printed */
  async cli(command: string): Promise<string> {
    const socket = join(this.#folder, 'cli.sock');
    const { stdout } = await run('vppctl', ['-s', socket, ...command.split(' ')], {
      maxBuffer: 64 * 1024 * 1024,
    });
    return stdout;
  }

  /** Asks it over a connection of its own. */
  async ask<T>(question: (client: BinapiClient) => Promise<T>): Promise<T> {
    const client = new BinapiClient({
      connect: unixConnect(this.apiSocket, systemClock),
      clock: systemClock,
      random: systemRandom,
      log: silentLogger,
      name: 'test',
    });
    client.start();
    try {
      await client.whenConnected();
      return await question(client);
    } finally {
      await client.close();
    }
  }

  async end(signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    await this.#process?.end(signal);
  }
}

/** Whether somebody listens on a unix socket. */
export function answers(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path);
    socket.once('error', () => resolve(false));
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
  });
}
