/** A control group, a network namespace with addresses of the test, and what the kernel reports of the sockets in them. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { systemClock } from '#infra/clock/system.ts';
import { kernelHost } from '#linux/kernel/host.ts';
import type {
  ConnectionEvent,
  EndedConnection,
  FlowSource,
  OngoingConnection,
} from '#linux/socket-flows/api.ts';
import { openFlowSource } from '#linux/socket-flows/open.ts';
import { SysFs } from '../../support/sys-fs.ts';
import { SocketClient } from '../socket-services/machine.ts';

export const SERVER = { address: '10.1.1.1', port: 8080 };
export const SERVER6 = { address: 'fd00::1', port: 8080 };
/** Of a neighbor whose packets are lost. */
export const LOST = '10.9.0.2';

/** On a busy machine a script of two seconds takes a minute. */
const SCRIPT_LIMIT_MS = 120_000;

export class FlowMachine {
  readonly sysFs: SysFs;
  readonly client: SocketClient;
  readonly #host = kernelHost({ clock: systemClock });

  static async start(): Promise<FlowMachine> {
    const sysFs = new SysFs();
    const client = await SocketClient.start(sysFs.group);
    await client.addAddress(`${SERVER.address}/32`);
    await client.addAddress(`${SERVER6.address}/128`);
    await client.serve(SERVER, SERVER6, { address: '127.0.0.1', port: 8080 });
    await client.addLossyLink('10.9.0.1/24', LOST);
    return new FlowMachine(sysFs, client);
  }

  private constructor(sysFs: SysFs, client: SocketClient) {
    this.sysFs = sysFs;
    this.client = client;
  }

  /** As an agent that starts. */
  async open(): Promise<FlowSource> {
    return openFlowSource(this.sysFs.path, {
      hostNamespace: await this.#host.namespaceCookie(undefined),
      connections: this.#host,
      clock: systemClock,
    });
  }

  /** Runs a script of Python in the group and the namespace. @returns its output @throws if it does not end in time */
  run(script: string, ...args: string[]): string {
    const [command, ...all] = this.#command(script, args);
    return execFileSync(command!, all, {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'inherit'],
      timeout: SCRIPT_LIMIT_MS,
    });
  }

  /** Likewise, one that waits for the end of its input. */
  spawn(script: string, ...args: string[]): ChildProcess {
    const [command, ...all] = this.#command(script, args);
    return spawn(command!, all, { stdio: ['pipe', 'pipe', 'inherit'], timeout: SCRIPT_LIMIT_MS });
  }

  async close(): Promise<void> {
    await this.client.close();
    this.sysFs[Symbol.dispose]();
  }

  #command(script: string, args: readonly string[]): string[] {
    const enter = ['nsenter', `--net=${this.client.namespace}`];
    return [...enter, 'python3', '-c', `${JOINS}${script}`, this.sysFs.group, ...args];
  }
}

const JOINS = `
import os, socket, sys
open(sys.argv[1] + '/cgroup.procs', 'w').write(str(os.getpid()))
`;

/** All that was not read yet. */
export function read(source: FlowSource): ConnectionEvent[] {
  const found: ConnectionEvent[] = [];
  while (source.read((event) => found.push(event), 1000));
  return found;
}

/** Connections that continue. */
export async function measured(source: FlowSource): Promise<OngoingConnection[]> {
  const found: (OngoingConnection | EndedConnection)[] = [];
  await source.measure((one) => found.push(one));
  return found.filter((one) => one.kind === 'goes-on');
}
