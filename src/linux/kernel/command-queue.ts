/** Sends commands to the thread that talks to the kernel, in their order. */
import { closeSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import type { Clock, Timer } from '#infra/clock/clock.ts';
import { errorText } from '#infra/errors/errors.ts';
import { LinuxError, NamespaceNotFoundError } from '../api.ts';
import type { Answer, Command, Outcome } from './commands.ts';
import { SocketRegister } from './socket-register.ts';

interface Pending {
  readonly command: Command;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: unknown) => void;
}

export interface CommandQueueOptions {
  readonly clock: Clock;
  /** Time limit of a batch with one command. */
  readonly limitMs: number;
  /** Module of the thread. */
  readonly thread: URL;
}

/** Added to the limit for each further command. */
const MORE_MS_PER_COMMAND = 200;

/**
 * A command completes only with its batch, and the kernel needs 20 ms to remove a link: further commands
 * wait for the next batch.
 */
const COMMANDS_PER_BATCH = 64;

/** Far more than the dump of a namespace with thousands of routes needs. */
const memory = { maxYoungGenerationSizeMb: 4, maxOldGenerationSizeMb: 256 };

/**
 * One batch at a time; meanwhile, commands collect for the next. The kernel has one lock for nearly all
 * changes of the network, so that several threads would only wait for each other.
 *
 * A thread that dies or exceeds the time limit leaves the outcome of its batch unknown. The next batch
 * starts another one.
 */
export class CommandQueue {
  readonly #options: CommandQueueOptions;
  #waiting: Pending[] = [];
  #batch: { readonly commands: readonly Pending[]; readonly limit: Timer } | undefined;
  #thread: Worker | undefined;
  #isScheduled = false;

  constructor(options: CommandQueueOptions) {
    this.#options = options;
  }

  run(command: Command): Promise<Answer> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ command, resolve, reject });
      void this.#schedule();
    });
  }

  /** The commands of one turn of the event loop are one batch. */
  async #schedule(): Promise<void> {
    if (this.#isScheduled || this.#batch) return;
    this.#isScheduled = true;
    await this.#options.clock.turn();
    this.#isScheduled = false;
    this.#next();
  }

  #next(): void {
    if (this.#batch || this.#waiting.length === 0) return;
    const commands = this.#waiting.splice(0, COMMANDS_PER_BATCH);
    const { clock, limitMs } = this.#options;
    const limit = clock.timer(limitMs + (commands.length - 1) * MORE_MS_PER_COMMAND, () =>
      this.#abandon('no answer within the time limit'),
    );
    this.#batch = { commands, limit };
    try {
      this.#thread ??= this.#start();
      this.#thread.ref();
      this.#thread.postMessage(commands.map(({ command }) => command));
    } catch (thrown) {
      this.#abandon(`the thread cannot be used: ${errorText(thrown)}`);
    }
  }

  #start(): Worker {
    const register = new SocketRegister();
    const thread = new Worker(this.#options.thread, {
      workerData: register.memory,
      resourceLimits: memory,
    });
    let cause = 'the thread was ended';
    thread.on('message', (outcomes: readonly Outcome[]) => {
      if (thread === this.#thread) this.#settle(outcomes);
    });
    thread.on('error', (thrown) => {
      cause = errorText(thrown);
    });
    thread.on('exit', () => {
      for (const file of register.files) closeSync(file);
      if (thread === this.#thread) this.#abandon(cause);
    });
    return thread;
  }

  #settle(outcomes: readonly Outcome[]): void {
    const commands = this.#finish();
    this.#thread?.unref();
    for (const [position, { resolve, reject }] of commands.entries()) {
      const { failure, answer } = outcomes[position] as Outcome & { answer?: Answer };
      if (failure === undefined) resolve(answer);
      else {
        const { text, where, errno, isNamespaceGone } = failure;
        reject(
          isNamespaceGone
            ? new NamespaceNotFoundError(text, { where })
            : new LinuxError(text, { where, errno }),
        );
      }
    }
    this.#next();
  }

  /** A thread in a system call ends when that returns, without another command. */
  #abandon(reason: string): void {
    const thread = this.#thread;
    this.#thread = undefined;
    thread?.unref();
    void thread?.terminate();
    for (const { command, reject } of this.#finish())
      reject(
        new LinuxError(`${reason}; the outcome is unknown`, {
          where: command.where,
          errno: 'ETIMEDOUT',
        }),
      );
    this.#next();
  }

  #finish(): readonly Pending[] {
    const { commands = [], limit } = this.#batch ?? {};
    limit?.cancel();
    this.#batch = undefined;
    return commands;
  }
}
