import { ClosedSchedulerError, TransactionQueueFullError } from '../api/errors.ts';

/** A piece of work and what becomes of it when the queue is closed before its turn. */
export interface Task {
  run(): Promise<void>;
  refuse(error: Error): void;
}

/**
 * Everything that looks at or changes the graph stands in one line. Who asks from outside finds
 * limited room; what the scheduler tells itself always fits, because it is bounded by what it is
 * about.
 */
export class TaskQueue {
  readonly #limit: number;
  readonly #tasks: Task[] = [];
  /** Tasks that wait for room. */
  readonly #outside: Task[] = [];
  #working: Promise<void> | undefined;
  #closed = false;

  constructor(limit: number) {
    this.#limit = limit;
  }

  get length(): number {
    return this.#tasks.length + this.#outside.length;
  }

  get closed(): boolean {
    return this.#closed;
  }

  /** Adds work of our own. */
  add(task: Task): void {
    if (this.#closed) {
      task.refuse(closedError());
      return;
    }
    this.#tasks.push(task);
    this.#start();
  }

  /** Adds work from outside, now or as soon as there is room. */
  addWhenRoom(task: Task): void {
    if (this.#closed || this.#hasRoom()) this.add(task);
    else this.#outside.push(task);
  }

  /** Adds work from outside or refuses it. */
  addIfRoom(task: Task): void {
    if (this.#closed || this.#hasRoom()) this.add(task);
    else task.refuse(new TransactionQueueFullError(`${this.#limit} transactions are waiting`));
  }

  /** What has begun ends, what has not is refused. */
  async close(): Promise<void> {
    this.#closed = true;
    for (const task of [...this.#tasks.splice(0), ...this.#outside.splice(0)])
      task.refuse(closedError());
    await this.#working;
  }

  #hasRoom(): boolean {
    return this.#tasks.length < this.#limit;
  }

  #start(): void {
    this.#working ??= this.#work().finally(() => {
      this.#working = undefined;
      if (this.#tasks.length > 0) this.#start();
    });
  }

  async #work(): Promise<void> {
    // A turn of the microtask queue first: what is added together is seen together.
    await undefined;
    for (let task = this.#tasks.shift(); task; task = this.#tasks.shift()) {
      const admitted = this.#outside.shift();
      if (admitted) this.#tasks.push(admitted);
      await task.run();
    }
  }
}

function closedError(): Error {
  return new ClosedSchedulerError('the scheduler is closed');
}
