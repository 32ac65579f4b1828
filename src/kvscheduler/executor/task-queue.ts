import { ClosedSchedulerError, TransactionQueueFullError } from '../api/errors.ts';

/** A unit of work. `refuse` is called instead of `run` when the queue is closed first. */
export interface Task {
  run(): Promise<void>;
  refuse(error: Error): void;
}

/**
 * Serializes all work that reads or changes the graph. The number of tasks from outside is limited;
 * tasks of the scheduler itself are not, because the number of values bounds them.
 */
export class TaskQueue {
  readonly #limit: number;
  readonly #tasks: Task[] = [];
  /** Tasks that wait until the queue has capacity. */
  readonly #outside: Task[] = [];
  #working: Promise<void> | undefined;
  #closed = false;
  #ended = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  get length(): number {
    return this.#tasks.length + this.#outside.length;
  }

  /** Tasks that have ended since the start. */
  get ended(): number {
    return this.#ended;
  }

  /** No task runs or waits. */
  get isIdle(): boolean {
    return this.#working === undefined && this.length === 0;
  }

  get closed(): boolean {
    return this.#closed;
  }

  /** Adds a task of the scheduler itself. */
  add(task: Task): void {
    if (this.#closed) {
      task.refuse(closedError());
      return;
    }
    this.#tasks.push(task);
    this.#start();
  }

  /** Adds a task from outside, as soon as the queue has capacity. */
  addWhenPossible(task: Task): void {
    if (this.#closed || this.#hasCapacity()) this.add(task);
    else this.#outside.push(task);
  }

  /** Adds a task from outside, or refuses it if the queue is full. */
  addIfPossible(task: Task): void {
    if (this.#closed || this.#hasCapacity()) this.add(task);
    else task.refuse(new TransactionQueueFullError(`${this.#limit} transactions are waiting`));
  }

  /** Completes the current task and refuses the others. */
  async close(): Promise<void> {
    this.#closed = true;
    for (const task of [...this.#tasks.splice(0), ...this.#outside.splice(0)])
      task.refuse(closedError());
    await this.#working;
  }

  #hasCapacity(): boolean {
    return this.#tasks.length < this.#limit;
  }

  #start(): void {
    this.#working ??= this.#work().finally(() => {
      this.#working = undefined;
      if (this.#tasks.length > 0) this.#start();
    });
  }

  async #work(): Promise<void> {
    // Starts after the current microtask, so that tasks that are added together are queued together.
    await undefined;
    for (let task = this.#tasks.shift(); task; task = this.#tasks.shift()) {
      const admitted = this.#outside.shift();
      if (admitted) this.#tasks.push(admitted);
      await task.run();
      this.#ended++;
    }
  }
}

function closedError(): Error {
  return new ClosedSchedulerError('the scheduler is closed');
}
