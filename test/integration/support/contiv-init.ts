/** contiv-init as the main process of the vswitch on a real node. */
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { isListening, until } from '#test/support/wait.ts';
import { Background } from './background.ts';
import type { RealNode } from './node.ts';

const MAIN = resolve(import.meta.dirname, '../../../src/cmd/init/main.ts');
/** Start of VPP, and of an agent that needs 4 s of CPU. */
const READY_LIMIT_MS = 120_000;

/** In one container contiv-init starts the agent too; in two it starts only VPP. */
export type Containers = 'one container' | 'two containers';

export class ContivInit {
  readonly #node: RealNode;
  readonly #containers: Containers;
  readonly #folder: string;
  #process: Background | undefined;

  /** Takes over the programs of a node, which must not run. @param folder of its own */
  constructor(node: RealNode, folder: string, containers: Containers) {
    this.#node = node;
    this.#containers = containers;
    this.#folder = folder;
    this.#program('vpp', node.vpp.command);
    this.#program('agent', node.agent.command);
  }

  /** Replaces the agent's program, for its next start. */
  replaceAgent(main: string): void {
    const { agent } = this.#node;
    agent.replace(main);
    this.#program('agent', agent.command);
  }

  /** Starts it; resolves when the agent is ready. */
  async start(): Promise<void> {
    const { vpp, agent } = this.#node;
    const flags =
      this.#containers === 'two containers'
        ? ['--vpp-only']
        : [`--agent-bin=${this.#file('agent')}`];
    this.#process = new Background(
      [
        ...this.#node.netns.enter,
        process.execPath,
        MAIN,
        `--vpp-bin=${this.#file('vpp')}`,
        `--vpp-config=${vpp.writeStartupConfiguration()}`,
        ...flags,
        ...agent.flags,
      ],
      { log: this.#file('init.log') },
    );
    if (this.#containers === 'two containers' && !agent.isRunning) agent.launch();
    // the agent may not have noticed yet that an earlier VPP has ended
    await until('VPP accepts connections', () => this.#acceptsConnections(), READY_LIMIT_MS);
    await this.whenReady();
  }

  async #acceptsConnections(): Promise<boolean> {
    this.#process!.assertRunning();
    return this.pid('vpp') !== undefined && (await isListening(this.#node.vpp.apiSocket));
  }

  /** Resolves when the agent is ready. */
  async whenReady(): Promise<void> {
    const { agent } = this.#node;
    const isReady = async (): Promise<boolean> => {
      this.#process!.assertRunning();
      const { status } = await agent.get('/readiness').catch(() => ({ status: 0 }));
      return status === 200;
    };
    await until('the agent is ready', isReady, READY_LIMIT_MS).catch((cause) => {
      throw new Error(`${agent.tail()}${this.tail()}`, { cause });
    });
  }

  /** Process of VPP, or of the agent in one container. */
  pid(program: 'vpp' | 'agent'): number | undefined {
    const { pid } = this.#process!;
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').match(/\d+/g) ?? [];
    const found = children.find((child) => isVpp(child) === (program === 'vpp'));
    return found === undefined ? undefined : Number(found);
  }

  /** Ends the agent; resolves when another one is ready. */
  async restartAgent(signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    const { agent } = this.#node;
    if (this.#containers === 'two containers') {
      await agent.end(signal);
      // As kubelet does
      await agent.start();
      return;
    }
    const before = this.pid('agent')!;
    process.kill(before, signal);
    await until('the agent has ended', () => !existsSync(`/proc/${before}`));
    await this.whenReady();
  }

  /** Resolves when it has ended by itself. */
  async whenEnded(): Promise<void> {
    await until('contiv-init has ended', () => !this.#process!.isRunning);
  }

  async end(signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    await this.#process?.end(signal);
  }

  /** End of its output, with that of its programs. */
  tail(): string {
    return this.#process?.tail() ?? '';
  }

  #file(name: string): string {
    return join(this.#folder, name);
  }

  /** A program that starts a command with the arguments that it gets. */
  #program(name: string, command: readonly string[]): void {
    const words = command.map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(' ');
    writeFileSync(this.#file(name), `#!/bin/sh\nexec ${words} "$@"\n`);
    chmodSync(this.#file(name), 0o755);
  }
}

/** Undefined if the process has ended. */
function isVpp(pid: string): boolean | undefined {
  const file = `/proc/${pid}/comm`;
  return existsSync(file) ? readFileSync(file, 'utf8').startsWith('vpp') : undefined;
}
