import type { FileHandle } from 'node:fs/promises';
import type { Clock } from '#infra/clock/clock.ts';
import type { NamespacePath } from '../api.ts';
import { LinuxError } from '../api.ts';
import type { Command } from './commands.ts';
import { probeLink } from './commands.ts';
import { errnoOf } from './errno.ts';
import { openNamespace } from './namespace-file.ts';
import { ipBatch, outcomesOf, shScript } from './outcome.ts';
import { type ProcessResult, runProcess } from './process.ts';

/** A command that has not completed. `value` is the output of a dump. */
export interface Pending {
  readonly command: Command;
  readonly resolve: (value: string) => void;
  readonly reject: (error: unknown) => void;
}

export interface RunContext {
  readonly clock: Clock;
  /** Time limit of one process with one command. */
  readonly limitMs: number;
}

/** Added to the limit for each further command. */
const MORE_MS_PER_COMMAND = 200;

const programs: Readonly<Record<Command['tool'], readonly string[]>> = {
  ip: ['ip', '-force', '-batch', '-'],
  sh: ['sh', '-s'],
  dump: ['ip', '-json', '-N', '-details', '-batch', '-'],
};

const DUMP_INPUT = 'addr show\nroute show table all\nneigh show\n';

function refused(text: string, where: string): LinuxError {
  const missing = /(\w+): (?:command )?not found$/.exec(text)?.[1];
  const errno = missing ? 'ENOENT' : errnoOf(text);
  const plain = missing
    ? `${missing} is not installed`
    : text.replaceAll(/RTNETLINK answers: |Error: |\.$/gm, '').replaceAll('\n', '; ');
  return new LinuxError(errno ? `${plain} (${errno})` : plain, { where, errno });
}

/** One process of one tool in one namespace. */
class BatchProcess {
  readonly #context: RunContext;
  readonly #namespace: NamespacePath;
  readonly #tool: Command['tool'];
  #files: FileHandle[] = [];
  readonly #paths = new Map<NamespacePath, string>();

  constructor(context: RunContext, namespace: NamespacePath, tool: Command['tool']) {
    this.#context = context;
    this.#namespace = namespace;
    this.#tool = tool;
  }

  async #path(namespace: NamespacePath): Promise<string> {
    const known = this.#paths.get(namespace);
    if (known !== undefined) return known;
    this.#files.push(await openNamespace(namespace));
    const path = `/proc/self/fd/${this.#files.length + 2}`;
    this.#paths.set(namespace, path);
    return path;
  }

  /** Opens the namespaces; rejects and drops commands whose other namespace does not exist. */
  async #open(batch: readonly Pending[]): Promise<{ sent: Pending[]; lines: string[][] }> {
    const sent: Pending[] = [];
    const lines: string[][] = [];
    if (this.#namespace !== undefined) await this.#path(this.#namespace);
    for (const pending of batch) {
      const { other } = pending.command;
      try {
        const path = other ? await this.#path(other.namespace) : '';
        lines.push([...pending.command.lines(path)]);
        sent.push(pending);
      } catch (error) {
        pending.reject(error);
      }
    }
    return { sent, lines };
  }

  #run(input: string, commands = 1): Promise<ProcessResult> {
    const program = programs[this.#tool];
    const inside =
      this.#namespace === undefined ? [] : ['nsenter', `--net=${this.#paths.get(this.#namespace)}`];
    const [command = '', ...args] = [...inside, ...program];
    return runProcess(this.#context.clock, {
      command,
      args,
      input,
      files: this.#files.map((file) => file.fd),
      limitMs: this.#context.limitMs + (commands - 1) * MORE_MS_PER_COMMAND,
    });
  }

  /** Executes the batch. @returns the commands that must be sent again */
  async carryOut(batch: readonly Pending[]): Promise<readonly Pending[]> {
    try {
      const { sent, lines } = await this.#open(batch);
      if (sent.length === 0) return [];
      if (this.#tool === 'dump') return settleDump(sent, await this.#run(DUMP_INPUT));
      const input = this.#tool === 'ip' ? ipBatch(lines) : shScript(lines);
      const ended = await this.#run(input, lines.length);
      return await this.#settle(sent, lines, ended);
    } finally {
      const files = this.#files;
      this.#files = [];
      await Promise.all(files.map((file) => file.close()));
    }
  }

  async #settle(
    sent: readonly Pending[],
    lines: readonly string[][],
    ended: ProcessResult,
  ): Promise<readonly Pending[]> {
    const { failures, reached, rest } = outcomesOf(ended.stderr, lines);
    for (const [i, { command, resolve, reject }] of sent.slice(0, reached).entries()) {
      const failure = failures[i];
      if (failure === undefined) resolve('');
      else {
        if (command.other && errnoOf(failure) === 'EEXIST') await this.#moveBack(command);
        reject(refused(failure, command.where));
      }
    }
    const left = sent.slice(reached);
    if (left.length === 0) return [];
    if (ended.timedOut || ended.code === undefined) {
      for (const { command, reject } of left) reject(unknownOutcome(command, ended));
      return [];
    }
    const inVain = rest.startsWith('nsenter:');
    const [first, ...again] = left;
    const text = failures[reached] ?? (rest || `the process exited early with code ${ended.code}`);
    for (const { command, reject } of inVain ? left : [first!])
      reject(refused(text, command.where));
    return inVain ? [] : again;
  }

  /**
   * The kernel moves a link before it renames it. If the new name is taken, the link may be in the other
   * namespace under its old name; then it is moved back. After a crash in between it stays there with its
   * alias, and a resync finds it.
   */
  async #moveBack(command: Command): Promise<void> {
    const { moves, namespace, other } = command;
    if (moves === undefined || !other) return;
    const probe = probeLink(namespace, moves);
    const here = await this.#run(ipBatch([probe.lines('')]));
    if (outcomesOf(here.stderr, [probe.lines('')]).failures[0] === undefined) return;
    const back = new BatchProcess(this.#context, other.namespace, 'ip');
    await back.#bring(moves, namespace);
  }

  async #bring(name: string, to: NamespacePath): Promise<void> {
    const command: Command = {
      tool: 'ip',
      namespace: this.#namespace,
      other: { namespace: to },
      lines: (path) => [`link set dev ${name} netns ${path}`],
      where: name,
    };
    await this.carryOut([{ command, resolve: () => undefined, reject: () => undefined }]);
  }
}

function unknownOutcome(command: Command, ended: ProcessResult): LinuxError {
  const why = ended.timedOut ? 'no answer within the time limit' : 'the process was killed';
  return new LinuxError(`${why}; the outcome is unknown`, {
    where: command.where,
    errno: 'ETIMEDOUT',
  });
}

function settleDump(sent: readonly Pending[], ended: ProcessResult): readonly Pending[] {
  for (const { command, resolve, reject } of sent) {
    if (ended.code === 0) resolve(ended.stdout);
    else if (ended.code === undefined) reject(unknownOutcome(command, ended));
    else
      reject(
        refused(ended.stderr.trim() || `the process exited with code ${ended.code}`, command.where),
      );
  }
  return [];
}

/** Executes commands of one tool in one namespace, in order, in as few processes as possible. */
export async function carryOut(context: RunContext, batch: readonly Pending[]): Promise<void> {
  let left = batch;
  while (left.length > 0) {
    const { namespace, tool } = left[0]!.command;
    try {
      left = await new BatchProcess(context, namespace, tool).carryOut(left);
    } catch (error) {
      for (const { reject } of left) reject(error);
      return;
    }
  }
}
