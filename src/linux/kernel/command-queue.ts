/** Sends commands to the thread that talks to the kernel, in their order. */
import { closeSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import type { Clock, Timer } from '#infra/clock/clock.ts';
import { errorText } from '#infra/errors/errors.ts';
import { LinuxError, NamespaceNotFoundError } from '../api.ts';
import type { Answer, Command, Outcome, ThreadMessage } from './commands.ts';
import { SocketRegister } from './socket-register.ts';

interface Pending {
  readonly command: Command;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: unknown) => void;
}

export interface CommandQueueOptions {
  readonly clock: Clock;
  /** Time limit of a command. */
  readonly limitMs: number;
  /** Module of the thread. */
  readonly thread: URL;
}

/** The thread reads no message during a batch, and the kernel needs 20 ms to remove a link. */
const COMMANDS_PER_BATCH = 64;

/** Far more than the dump of a namespace with thousands of routes needs. */
const memory = { maxYoungGenerationSizeMb: 4, maxOldGenerationSizeMb: 256 };

/**
 * One batch at a time; meanwhile, commands collect for the next. The kernel has one lock for nearly all
 * changes of the network, so that several threads would only wait for each other.
 *
 * A thread that dies or exceeds the time limit leaves the outcome of the commands without an answer unknown. The
 * next batch starts another one. The limit of a command begins when the thread has started and the command before
 * has its answer: a machine with little CPU needs longer, and must not begin again and again.
 */
export class CommandQueue {
  readonly #options: CommandQueueOptions;
  #waiting: Pending[] = [];
  /** The commands without an answer. */
  #batch: Pending[] | undefined;
  #limit: Timer | undefined;
  #thread: Worker | undefined;
  #isThreadReady = false;
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
    this.#batch = [...commands];
    try {
      this.#thread ??= this.#start();
      this.#restartLimit();
      this.#thread.ref();
      this.#thread.postMessage(commands.map(({ command }) => command));
    } catch (thrown) {
      this.#abandon(`the thread cannot be used: ${errorText(thrown)}`);
    }
  }

  #restartLimit(): void {
    this.#limit?.cancel();
    this.#limit = undefined;
    if (!this.#batch || !this.#isThreadReady) return;
    const { clock, limitMs } = this.#options;
    this.#limit = clock.timer(limitMs, () => this.#abandon('no answer within the time limit'));
  }

  #start(): Worker {
    this.#isThreadReady = false;
    const register = new SocketRegister();
    const thread = new Worker(this.#options.thread, {
      workerData: register.memory,
      resourceLimits: memory,
    });
    let cause = 'the thread was ended';
    thread.on('message', (message: ThreadMessage) => {
      if (thread !== this.#thread) return;
      if (message === 'ready') this.#isThreadReady = true;
      else this.#settle(message);
      this.#restartLimit();
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

  #settle(outcome: Outcome): void {
    const { resolve, reject } = this.#batch!.shift()!;
    if (outcome.failure === undefined) resolve(outcome.answer);
    else {
      const { text, where, errno, isNamespaceGone } = outcome.failure;
      reject(
        isNamespaceGone
          ? new NamespaceNotFoundError(text, { where })
          : new LinuxError(text, { where, errno }),
      );
    }
    if (this.#batch!.length > 0) return;
    this.#thread?.unref();
    this.#batch = undefined;
    this.#next();
  }

  /** A thread in a system call ends when that returns, without another command. */
  #abandon(reason: string): void {
    const thread = this.#thread;
    this.#thread = undefined;
    thread?.unref();
    void thread?.terminate();
    const unanswered = this.#batch ?? [];
    this.#batch = undefined;
    this.#restartLimit();
    for (const { command, reject } of unanswered)
      reject(
        new LinuxError(`${reason}; the outcome is unknown`, {
          where: command.where,
          errno: 'ETIMEDOUT',
        }),
      );
    this.#next();
  }
}
