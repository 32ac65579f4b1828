import { Worker } from 'node:worker_threads';
import type { Clock } from '#infra/clock/clock.ts';
import { defineError } from '#infra/errors/errors.ts';
import { BusyError } from '#infra/http/route.ts';
import { workerAnswer } from '#infra/process/worker-answer.ts';

export const DrawingError = defineError({
  name: 'DrawingError',
  code: 'CV_SCHED_DRAWING',
  remedy: 'Use format=dot and draw the graph with Graphviz on another machine, or retry later.',
});

/** Graphviz may take minutes for a big graph. */
const LIMIT_MS = 20_000;

/** Draws one graph at a time, in a worker thread that ends afterwards. */
export class Drawer {
  readonly #clock: Clock;
  #busy = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * @param describe makes the DOT text, which takes the main thread: it is not called for a graph that is
   * refused.
   * @returns SVG
   * @throws BusyError, DrawingError
   */
  async draw(describe: () => Promise<string>): Promise<string> {
    if (this.#busy)
      throw new BusyError('another graph is being drawn: retry later, or use format=dot');
    this.#busy = true;
    try {
      return await this.#drawInThread(await describe());
    } finally {
      this.#busy = false;
    }
  }

  async #drawInThread(dot: string): Promise<string> {
    const worker = new Worker(new URL('./svg-worker.ts', import.meta.url), { workerData: dot });
    try {
      return await workerAnswer<string>(worker, {
        clock: this.#clock,
        limitMs: LIMIT_MS,
        failure: (text, cause) => new DrawingError(`the graph: ${text}`, { cause }),
      });
    } finally {
      await worker.terminate();
    }
  }
}
