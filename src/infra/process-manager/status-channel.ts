import type { KernelState } from './proc-file.ts';

/**
 * State of a process. `initial`: not started yet. `terminated`: not running. `unavailable`: running,
 * but the kernel does not show its state.
 */
export type ProcessStatus = KernelState | 'initial' | 'unavailable';

/** Changes that a reader may be behind; the oldest of more are dropped. */
const CAPACITY = 64;

/**
 * Changes of the state of one process, for one reader. Writing never waits: a reader that is slow
 * loses old changes, and always gets the last one.
 */
export class StatusChannel implements AsyncIterable<ProcessStatus> {
  readonly #queue: ProcessStatus[] = [];
  #wake: (() => void) | undefined;
  #isClosed = false;

  push(status: ProcessStatus): void {
    if (this.#isClosed) return;
    this.#queue.push(status);
    if (this.#queue.length > CAPACITY) this.#queue.shift();
    this.#wake?.();
  }

  /** The reader ends when it has read what is left. */
  close(): void {
    this.#isClosed = true;
    this.#wake?.();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<ProcessStatus, void, void> {
    for (;;) {
      const status = this.#queue.shift();
      if (status !== undefined) yield status;
      else if (this.#isClosed) return;
      else
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
    }
  }
}
