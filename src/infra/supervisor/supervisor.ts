/** Starts the programs of `supervisor.conf`, restarts them, and runs hooks when their status changes. */
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { basename } from 'node:path';
import type { Clock } from '../clock/clock.ts';
import { durationMs } from '../config/duration.ts';
import { ConfigError } from '../config/load.ts';
import { errorText } from '../errors/errors.ts';
import type { Logger } from '../log/log.ts';
import type { Component } from '../process/lifecycle.ts';
import { startChild, startError } from '../process-manager/child-process.ts';
import type { ManagedProcess } from '../process-manager/managed-process.ts';
import type { ProcessManager } from '../process-manager/process-manager.ts';
import type { ProcessOptions } from '../process-manager/process-options.ts';
import type { ProcessStatus } from '../process-manager/status-channel.ts';
import type { SupervisedProgram, SupervisorConfig } from './config.ts';

/** A hook that takes longer is killed: it delays the next ones. */
const HOOK_LIMIT_MS = 30_000;

interface SupervisorDeps {
  readonly config: SupervisorConfig;
  /** Ends the programs when it is closed. */
  readonly manager: ProcessManager;
  readonly clock: Clock;
  readonly log: Logger;
}

export class Supervisor implements Component {
  readonly name = 'supervisor';
  readonly #deps: SupervisorDeps;
  /** End of the hooks that were started last. */
  #hooks: Promise<void> = Promise.resolve();

  /** @throws ConfigError */
  constructor(deps: SupervisorDeps) {
    this.#deps = deps;
    const { programs } = deps.config;
    if (programs.length === 0)
      throw new ConfigError('programs: there has to be at least one', { where: 'supervisor.conf' });
    const names = programs.map(nameOf);
    const twice = names.find((name, at) => names.indexOf(name) !== at);
    if (twice !== undefined)
      throw new ConfigError(`programs: two have the name ${twice}`, { where: 'supervisor.conf' });
  }

  /** @throws ProcessStartError, ProcessOptionError */
  async init(): Promise<void> {
    const { config, manager } = this.#deps;
    this.#setOwnCpus(String(config['sv-cpu-affinity-mask']));
    const created: ManagedProcess[] = [];
    // An invalid one is found before any is started.
    for (const program of config.programs)
      created.push(
        await manager.create(nameOf(program), program['executable-path'], optionsOf(program)),
      );
    for (const one of created) {
      void this.#watch(one);
      await one.start();
    }
  }

  /** Ends when the manager deletes the process or is closed. */
  async #watch(one: ManagedProcess): Promise<void> {
    for await (const status of one.notifications ?? []) {
      // Hooks run one after the other, also those of several programs.
      this.#hooks = this.#hooks.then(() => this.#runHooks(one.name, status));
      await this.#hooks;
    }
  }

  async #runHooks(name: string, status: ProcessStatus): Promise<void> {
    const { config, log } = this.#deps;
    const env = {
      ...definedVariables(),
      SUPERVISOR_EVENT_TYPE: 'ProcessStatus',
      SUPERVISOR_PROCESS_NAME: name,
      SUPERVISOR_PROCESS_STATE: status,
    };
    for (const hook of config.hooks)
      try {
        await this.#runHook(hook.cmd, { args: hook['cmd-args'], env });
      } catch (error) {
        log.error({ hook: hook.cmd, process: name, error: errorText(error) }, 'hook failed');
      }
  }

  /** @throws ProcessStartError, and errors with its exit code or signal */
  async #runHook(command: string, options: ProcessOptions): Promise<void> {
    const child = startChild('hook', command, options);
    if (child.pid === undefined) throw await startError('hook', child);
    const limit = this.#deps.clock.timer(HOOK_LIMIT_MS, () => child.kill('SIGKILL'));
    const [code, signal]: (number | string | null)[] = await once(child, 'exit');
    limit.cancel();
    if (code !== 0) throw new Error(`the command ended with ${code ?? signal}`);
  }

  /** A failure is logged: the programs can run all the same. */
  #setOwnCpus(mask: string): void {
    if (mask === '') return;
    execFile('taskset', ['-ap', mask, String(process.pid)], (error) => {
      if (error)
        this.#deps.log.error({ error: errorText(error) }, 'setting the own CPU affinity failed');
    });
  }
}

function nameOf(program: SupervisedProgram): string {
  return program.name || basename(program['executable-path']);
}

function optionsOf(program: SupervisedProgram): ProcessOptions {
  const mask = String(program['cpu-affinity-mask']);
  const list = program['cpu-affinity-list'];
  const output = program['logfile-path'] ? { file: program['logfile-path'] } : undefined;
  const delayMs = durationMs(program['cpu-affinity-setup-delay']);
  return {
    args: program['executable-args'],
    restarts: program.restarts,
    notify: true,
    ...(output && { output, errorOutput: output }),
    ...((mask || list) && {
      cpuAffinity: { ...(mask && { mask }), ...(list && { list }), delayMs },
    }),
  };
}

function definedVariables(): Record<string, string> {
  const set = Object.entries(process.env).filter((entry): entry is [string, string] =>
    Boolean(entry[1]),
  );
  return Object.fromEntries(set);
}
