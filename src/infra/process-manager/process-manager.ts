/**
 * Processes of a program: started, attached to, watched and restarted. A process that is not detached
 * ends with the program, also when the kernel kills the program.
 */
import { errorText } from '../errors/errors.ts';
import type { Component } from '../process/lifecycle.ts';
import { ManagedProcess, type ProcessDeps, ProcessStateError } from './managed-process.ts';
import type { ProcessOptions } from './process-options.ts';
import {
  type ProcessTemplate,
  ProcessTemplateError,
  templateOf,
  templateOptions,
} from './template.ts';
import { TemplateFolder } from './template-folder.ts';

/** How long a process may take to end after SIGTERM before it is killed. */
const CLOSE_LIMIT_MS = 3_000;

export interface ProcessManagerDeps extends ProcessDeps {
  /** Folder of the templates; undefined: there are none. */
  readonly templatePath?: string;
}

export class ProcessManager implements Component {
  readonly name = 'process-manager';
  readonly #deps: ProcessManagerDeps;
  readonly #folder: TemplateFolder | undefined;
  readonly #processes = new Map<string, ManagedProcess>();
  #templates: ReadonlyMap<string, ProcessTemplate> = new Map();

  constructor(deps: ProcessManagerDeps) {
    this.#deps = deps;
    this.#folder =
      deps.templatePath === undefined ? undefined : new TemplateFolder(deps.templatePath, deps.log);
  }

  /** Reads the templates, and starts those that are to run on startup. A failure is logged. */
  async init(): Promise<void> {
    this.#templates = this.#folder?.read() ?? new Map();
    for (const template of this.#templates.values()) {
      if (template.p_options?.run_on_startup !== true) continue;
      try {
        await this.fromTemplate(template).start();
      } catch (error) {
        this.#deps.log.error({ process: template.name, err: error }, 'starting the process failed');
      }
    }
  }

  /** Ends the processes that are not detached, and stops watching the others. */
  async close(): Promise<void> {
    const all = [...this.#processes.values()];
    this.#processes.clear();
    await Promise.all(all.map((one) => this.#close(one)));
  }

  /**
   * A process that is not started yet.
   * @throws ProcessStateError when the name is in use; ProcessOptionError; ProcessTemplateError
   */
  async create(
    name: string,
    command: string,
    options: ProcessOptions = {},
  ): Promise<ManagedProcess> {
    const created = this.#add(name, command, options);
    try {
      const { template } = options;
      if (template) await this.#writeTemplate(templateOf(template.name, command, options));
    } catch (error) {
      this.delete(name);
      throw error;
    }
    return created;
  }

  /** A process that is not started yet. @throws like `create` */
  fromTemplate(template: ProcessTemplate): ManagedProcess {
    return this.#add(template.name, template.cmd, templateOptions(template));
  }

  /**
   * Watches a running process; its options apply when it is restarted.
   * @param command empty: it cannot be started again
   * @throws ProcessStateError when no process has the ID, or the name is in use
   */
  attach(name: string, command: string, pid: number, options: ProcessOptions = {}): ManagedProcess {
    const attached = this.#add(name, command, options);
    try {
      attached.attach(pid);
    } catch (error) {
      this.delete(name);
      throw error;
    }
    return attached;
  }

  byName(name: string): ManagedProcess | undefined {
    return this.#processes.get(name);
  }

  byPid(pid: number): ManagedProcess | undefined {
    return this.all().find((one) => one.pid === pid);
  }

  all(): ManagedProcess[] {
    return [...this.#processes.values()];
  }

  /** Stops watching; the process continues. @returns whether there was one */
  delete(name: string): boolean {
    this.#processes.get(name)?.release();
    return this.#processes.delete(name);
  }

  /** A template that was read at the start, or written since. */
  template(name: string): ProcessTemplate | undefined {
    return this.#templates.get(name);
  }

  templates(): ProcessTemplate[] {
    return [...this.#templates.values()];
  }

  #add(name: string, command: string, options: ProcessOptions): ManagedProcess {
    if (this.#processes.has(name))
      throw new ProcessStateError('a process with this name exists', { where: name });
    const created = new ManagedProcess({ name, command, options }, this.#deps);
    this.#processes.set(name, created);
    return created;
  }

  async #writeTemplate(template: ProcessTemplate): Promise<void> {
    if (!this.#folder)
      throw new ProcessTemplateError('template-path is not set', { where: template.name });
    await this.#folder.write(template);
    this.#templates = new Map([...this.#templates, [template.name, template]]);
  }

  async #close(one: ManagedProcess): Promise<void> {
    try {
      if (one.isAlive && one.endsWithManager) {
        const kill = this.#deps.clock.timer(CLOSE_LIMIT_MS, () => void one.kill());
        await one.stopAndWait();
        kill.cancel();
      }
    } catch (error) {
      this.#deps.log.error(
        { process: one.name, error: errorText(error) },
        'ending the process failed',
      );
    }
    one.release();
  }
}
