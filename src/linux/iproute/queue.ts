import type { NamespacePath } from '../api.ts';
import { carryOut, type Pending, type RunContext } from './batch.ts';
import type { Command } from './commands.ts';

/** Commands of one tool in one namespace that share a process. */
interface Batch {
  readonly namespace: NamespacePath;
  readonly tool: Command['tool'];
  readonly commands: Pending[];
  /** Earlier batches that use one of the same namespaces. */
  readonly after: Set<Batch>;
  /** No command joins a started batch. */
  started: boolean;
  removes: boolean;
  readonly done: Promise<void>;
  readonly finish: () => void;
}

/** The kernel uses one lock for nearly all operations; more concurrent processes would only wait. */
const PROCESSES_AT_ONCE = 4;

/**
 * A command completes only when its process ends, and the kernel needs 20 ms to remove a link: further
 * commands wait for the next process.
 */
const COMMANDS_PER_PROCESS = 64;

/**
 * Joins commands into batches: in the order of the calls within a namespace, concurrently across
 * namespaces. A batch starts at the end of the turn, when all earlier batches of its namespaces are done;
 * until then commands join it. A command on two namespaces keeps its order in both.
 */
export class CommandQueue {
  readonly #context: RunContext;
  /** The last unfinished batch of each namespace. */
  readonly #last = new Map<NamespacePath, Batch>();
  #running = 0;
  readonly #waiting: (() => void)[] = [];

  constructor(context: RunContext) {
    this.#context = context;
  }

  /** @returns the output of a dump; irrelevant for other commands */
  run(command: Command): Promise<string> {
    return new Promise((resolve, reject) => {
      const namespaces = [command.namespace, ...(command.other ? [command.other.namespace] : [])];
      const batch = this.#joinable(command, namespaces) ?? this.#open(command, namespaces);
      batch.commands.push({ command, resolve, reject });
      batch.removes ||= command.removes === true;
      for (const namespace of namespaces) this.#last.set(namespace, batch);
    });
  }

  #joinable(command: Command, namespaces: readonly NamespacePath[]): Batch | undefined {
    const batch = this.#last.get(command.namespace);
    if (!batch || batch.started || batch.tool !== command.tool) return undefined;
    if (batch.namespace !== command.namespace) return undefined;
    if (batch.commands.length >= COMMANDS_PER_PROCESS) return undefined;
    // `ip` caches the index of a name; after a removal the name may return with another index
    if (batch.removes && command.brings) return undefined;
    const inOrder = namespaces.every((ns) => (this.#last.get(ns) ?? batch) === batch);
    return inOrder ? batch : undefined;
  }

  #open(command: Command, namespaces: readonly NamespacePath[]): Batch {
    const { promise: done, resolve: finish } = Promise.withResolvers<void>();
    const before = namespaces.flatMap((namespace) => this.#last.get(namespace) ?? []);
    const batch: Batch = {
      namespace: command.namespace,
      tool: command.tool,
      commands: [],
      after: new Set(before),
      started: false,
      removes: false,
      done,
      finish,
    };
    void this.#live(batch);
    return batch;
  }

  async #live(batch: Batch): Promise<void> {
    await this.#context.clock.turn();
    await Promise.all([...batch.after].map((earlier) => earlier.done));
    await this.#slot();
    batch.started = true;
    try {
      await carryOut(this.#context, batch.commands);
    } finally {
      this.#running--;
      this.#waiting.shift()?.();
      for (const [namespace, last] of this.#last) {
        if (last === batch) this.#last.delete(namespace);
      }
      batch.finish();
    }
  }

  async #slot(): Promise<void> {
    while (this.#running >= PROCESSES_AT_ONCE)
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    this.#running++;
  }
}
