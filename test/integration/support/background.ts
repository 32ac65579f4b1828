/** A background process that ends with the test, also when the test is killed. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { cpuSecondsOf } from './process-cpu.ts';
import { resume, suspend } from './suspend.ts';

export interface BackgroundOptions {
  /** File to which both streams are appended. */
  readonly log: string;
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string | undefined>>;
}

export class Background {
  readonly #name: string;
  readonly #child: ChildProcess;
  readonly #log: string;

  constructor(command: readonly string[], options: BackgroundOptions) {
    const log = openSync(options.log, 'a');
    this.#name = command.join(' ');
    this.#log = options.log;
    this.#child = spawn('setpriv', ['--pdeathsig', 'KILL', ...command], {
      stdio: ['ignore', log, log],
      cwd: options.cwd,
      env: { ...process.env, ...options.env },
    });
    closeSync(log);
  }

  get pid(): number {
    return this.#child.pid!;
  }

  /** CPU time it has used: little of it means that the machine is overloaded, not that it hangs. */
  get cpuSeconds(): number {
    return cpuSecondsOf(this.pid);
  }

  get isRunning(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** undefined while it runs, and after a signal. */
  get exitCode(): number | undefined {
    return this.#child.exitCode ?? undefined;
  }

  /** Throws with the end of its output when it has exited. */
  assertRunning(): void {
    if (this.isRunning) return;
    const { exitCode, signalCode } = this.#child;
    throw new Error(`${this.#name} ended (${exitCode ?? signalCode}):\n${this.tail()}`);
  }

  /** End of its output. */
  tail(): string {
    return readFileSync(this.#log, 'utf8').slice(-6000);
  }

  /** Resolves when it no longer runs. */
  suspend(): Promise<void> {
    return suspend(this.pid);
  }

  resume(): void {
    resume(this.pid);
  }

  /** Ends it by a signal; resolves when it has exited. */
  async end(signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    if (!this.isRunning) return;
    const exited = once(this.#child, 'exit');
    this.#child.kill(signal);
    if (signal !== 'SIGKILL') this.#child.kill('SIGCONT');
    await exited;
  }
}
