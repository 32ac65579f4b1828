/** A process that the process manager starts, watches and restarts. */
import { execFile } from 'node:child_process';
import { Backoff } from '../clock/backoff.ts';
import type { Clock, Random, Timer } from '../clock/clock.ts';
import { defineError, errorText } from '../errors/errors.ts';
import type { Logger } from '../log/log.ts';
import { startChild, startError } from './child-process.ts';
import { readStatusFile } from './proc-file.ts';
import { checkOptions, type ProcessOptions } from './process-options.ts';
import { attachedRun, childRun, type ProcessEnd, type ProcessRun } from './process-run.ts';
import { type ProcessStatus, StatusChannel } from './status-channel.ts';

export const ProcessStateError = defineError({
  name: 'ProcessStateError',
  code: 'CV_PROCESS_STATE',
  remedy:
    'Read the status of the process first: it may have been started, or may have ended, meanwhile.',
});

const POLL_MS = 1_000;
/** How long `restart` waits after SIGTERM before it kills the process. */
const STOP_LIMIT_MS = 10_000;
/** Delays of automatic restarts, so that a program that ends at once does not take a CPU. */
const restartDelays = { firstMs: 200, maxMs: 30_000 };
/** After such a run the next automatic restart has the first delay again. */
const STABLE_MS = 60_000;

export interface ProcessDeps {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

export interface ProcessSpec {
  readonly name: string;
  /** Empty for an attached process whose command is not known: it cannot be started. */
  readonly command: string;
  readonly options: ProcessOptions;
}

export class ManagedProcess {
  readonly name: string;
  readonly command: string;
  readonly #options: ProcessOptions;
  readonly #deps: ProcessDeps;
  readonly #backoff: Backoff;
  /** Changes of the status, for one reader; undefined without the option `notify`. */
  readonly notifications: StatusChannel | undefined;
  #status: ProcessStatus = 'initial';
  #run: ProcessRun | undefined;
  #lastEnd: ProcessEnd | undefined;
  #startedAt: number | undefined;
  #startedMonotonic = 0;
  #restartsLeft: number;
  /** The end of the current run was requested, so no automatic restart follows. */
  #isStopRequested = false;
  /** Counts the commands to stop and the release: a restart that waits is given up by the next one. */
  #stops = 0;
  #isReleased = false;
  /** Number of calls that wait for the end. */
  #waiting = 0;
  #restartTimer: Timer | undefined;
  #pollTimer: Timer | undefined;
  #affinityTimer: Timer | undefined;

  /** @throws ProcessOptionError */
  constructor({ name, command, options }: ProcessSpec, deps: ProcessDeps) {
    checkOptions(name, options);
    this.name = name;
    this.command = command;
    this.#options = options;
    this.#deps = deps;
    this.#backoff = new Backoff(restartDelays, deps.random);
    this.#restartsLeft = options.restarts ?? 0;
    this.notifications = options.notify ? new StatusChannel() : undefined;
  }

  get args(): readonly string[] {
    return this.#options.args ?? [];
  }

  /** undefined while it is not running. */
  get pid(): number | undefined {
    return this.#run?.pid;
  }

  get status(): ProcessStatus {
    return this.#status;
  }

  get isAlive(): boolean {
    return this.#run?.isAlive() ?? false;
  }

  /** A child that is not detached. An attached process has another parent, and continues. */
  get endsWithManager(): boolean {
    return this.#run?.isChild === true && this.#options.detach !== true;
  }

  /** Time of the last start, in milliseconds since the epoch, also after the end; undefined: it was never started. */
  get startedAt(): number | undefined {
    return this.#startedAt;
  }

  /** Milliseconds since the last start; 0 while it is not running. */
  get uptimeMs(): number {
    return this.#run ? this.#deps.clock.monotonic() - this.#startedMonotonic : 0;
  }

  /** Name in the kernel, at most 15 characters; undefined while it is not running. */
  get instanceName(): string | undefined {
    return this.statusFile()?.['Name'];
  }

  /** Reads the status now, and returns the fields of `/proc/<pid>/status`. */
  statusFile(): Readonly<Record<string, string>> | undefined {
    this.#readStatus();
    return this.#run && readStatusFile(this.#run.pid);
  }

  /**
   * Starts the process, and counts automatic restarts from the beginning.
   * @throws ProcessStartError, and ProcessStateError when it is running
   */
  async start(): Promise<void> {
    if (this.#run)
      throw new ProcessStateError('the process is already running', { where: this.name });
    this.#checkStartable();
    this.#restartsLeft = this.#options.restarts ?? 0;
    this.#backoff.reset();
    await this.#launch();
  }

  /**
   * Stops the process, by force if it does not end in 10 s, and starts it, unless it is to be stopped or released
   * meanwhile. One that is not running is started.
   * @throws ProcessStartError, and ProcessStateError when it cannot be started again: then it is not stopped
   */
  async restart(): Promise<void> {
    this.#checkStartable();
    const run = this.#run;
    const stops = this.#stops;
    if (run) {
      this.#end('SIGTERM');
      const kill = this.#deps.clock.timer(STOP_LIMIT_MS, () => run.signal('SIGKILL'));
      await run.ended;
      kill.cancel();
    }
    // another call may have started it meanwhile
    if (!this.#run && this.#stops === stops) await this.start();
  }

  /**
   * Sends SIGTERM, which a process may ignore, and cancels automatic restarts.
   * @throws ProcessStateError when it was never started
   */
  stop(): void {
    this.#end('SIGTERM');
    this.#stops++;
  }

  /** Like `stop`, and waits for the end. */
  async stopAndWait(): Promise<ProcessEnd | undefined> {
    this.stop();
    return await this.wait();
  }

  /** Sends SIGKILL, cancels automatic restarts, and waits for the end. @throws like `stop` */
  async kill(): Promise<ProcessEnd | undefined> {
    this.#end('SIGKILL');
    this.#stops++;
    return await this.wait();
  }

  /** Resolves with the end of the current run, or of the last one; undefined: it was never started. */
  async wait(): Promise<ProcessEnd | undefined> {
    const run = this.#run;
    if (!run) return this.#lastEnd;
    this.#waiting++;
    this.#poll();
    try {
      return await run.ended;
    } finally {
      this.#waiting--;
    }
  }

  /** If the process ends by it, automatic restarts take place. @throws ProcessStateError when it is not running */
  signal(signal: NodeJS.Signals): void {
    if (!this.isAlive)
      throw new ProcessStateError(`cannot send ${signal}: the process is not running`, {
        where: this.name,
      });
    this.#run?.signal(signal);
  }

  /** Watches a process that runs already. @throws ProcessStateError when no process has the ID */
  attach(pid: number): void {
    const run = attachedRun(pid, this.#options.autoTerminate === true);
    if (!run) throw new ProcessStateError(`no process has the ID ${pid}`, { where: this.name });
    this.#watch(run);
  }

  /**
   * Stops watching: no more notifications and restarts. The process continues, and can be asked, stopped and waited for,
   * but not started again.
   */
  release(): void {
    this.#isReleased = true;
    this.#stops++;
    for (const timer of [this.#restartTimer, this.#pollTimer, this.#affinityTimer]) timer?.cancel();
    this.#run?.release();
    this.notifications?.close();
    this.#poll();
  }

  #checkStartable(): void {
    const refuse = (text: string): never => {
      throw new ProcessStateError(text, { where: this.name });
    };
    if (this.#isReleased) refuse('the process was deleted from the manager');
    if (this.command === '') refuse('the command of the attached process is not known');
  }

  #end(signal: NodeJS.Signals): void {
    if (this.#status === 'initial')
      throw new ProcessStateError('the process was never started', { where: this.name });
    this.#restartTimer?.cancel();
    this.#restartTimer = undefined;
    this.#isStopRequested = true;
    this.#run?.signal(signal);
  }

  async #launch(): Promise<void> {
    this.#restartTimer?.cancel();
    this.#restartTimer = undefined;
    const child = startChild(this.name, this.command, this.#options);
    // Until here nothing has waited: no other command can find the process between two states.
    if (child.pid === undefined) throw await startError(this.name, child);
    this.#isStopRequested = false;
    this.#watch(childRun(child));
    if (this.#options.cpuAffinity)
      this.#affinityTimer = this.#deps.clock.timer(this.#options.cpuAffinity.delayMs ?? 0, () =>
        this.#setAffinity(),
      );
  }

  #watch(run: ProcessRun): void {
    const { clock, log } = this.#deps;
    this.#run = run;
    this.#startedAt = clock.now() - run.initialAgeMs;
    this.#startedMonotonic = clock.monotonic() - run.initialAgeMs;
    log.info({ process: this.name, pid: run.pid }, 'process is running');
    void run.ended.then((end) => this.#ended(end));
    this.#poll();
  }

  #poll(): void {
    // only by reading its state the end of an attached process is noticed
    if (!this.#run || (this.#isReleased && this.#waiting === 0)) return;
    this.#readStatus();
    this.#pollTimer?.cancel();
    this.#pollTimer = this.#deps.clock.timer(POLL_MS, () => this.#poll());
  }

  #readStatus(): void {
    if (!this.#run) return;
    const status = this.#run.poll() ?? 'unavailable';
    // The end is reported with its cause, by `#ended`.
    if (status !== 'terminated') this.#setStatus(status);
  }

  #setStatus(status: ProcessStatus): void {
    if (status === this.#status) return;
    this.#status = status;
    this.notifications?.push(status);
  }

  #ended(end: ProcessEnd): void {
    const { log } = this.#deps;
    const uptimeMs = Math.round(this.uptimeMs);
    this.#lastEnd = end;
    this.#run = undefined;
    this.#pollTimer?.cancel();
    this.#affinityTimer?.cancel();
    this.#setStatus('terminated');
    if (this.#isReleased) return;
    const level = this.#isStopRequested || end.code === 0 ? 'info' : 'warn';
    log[level]({ process: this.name, ...end, uptimeMs }, 'process ended');
    if (uptimeMs >= STABLE_MS) this.#backoff.reset();
    if (!this.#isStopRequested) this.#restartLater();
  }

  #restartLater(): void {
    const { clock, log } = this.#deps;
    if (this.#isReleased || this.#restartsLeft === 0 || this.command === '') return;
    if (this.#restartsLeft > 0) this.#restartsLeft--;
    const delayMs = this.#backoff.next();
    log.info({ process: this.name, delayMs: Math.round(delayMs) }, 'process will be restarted');
    this.#restartTimer = clock.timer(delayMs, () => {
      this.#launch().catch((error: unknown) => {
        log.error({ process: this.name, err: error }, 'restarting the process failed');
        this.#restartLater();
      });
    });
  }

  /** With all its threads. A failure is logged: the process can run on other CPUs, too. */
  #setAffinity(): void {
    const { mask, list } = this.#options.cpuAffinity ?? {};
    const { log } = this.#deps;
    const run = this.#run;
    const cpus = list === undefined ? ['-ap', mask] : ['-apc', list];
    if (!run?.isAlive() || cpus[1] === undefined) return;
    execFile('taskset', [cpus[0]!, cpus[1], String(run.pid)], (error) => {
      if (error && run.isAlive())
        log.error(
          { process: this.name, error: errorText(error) },
          'setting the CPU affinity failed',
        );
    });
  }
}
