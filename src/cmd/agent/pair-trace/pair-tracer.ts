/** Traces of one pair each, in a worker thread that ends afterwards: the main thread only sends the snapshot. */
import { Worker } from 'node:worker_threads';
import type { Clock } from '#infra/clock/clock.ts';
import { Slices } from '#infra/clock/slices.ts';
import { defineError } from '#infra/errors/errors.ts';
import { jsonPieces } from '#infra/http/streamed.ts';
import { workerAnswer } from '#infra/process/worker-answer.ts';
import type { FromTraceWorker, ToTraceWorker, TraceInput } from './trace-request.ts';

export const TraceBusyError = defineError({
  name: 'TraceBusyError',
  status: 503,
  code: 'CV_TRACE_BUSY',
  remedy: 'Retry in some seconds. One trace is computed at a time, and one more waits.',
});

export const PairTraceError = defineError({
  name: 'PairTraceError',
  code: 'CV_TRACE_PAIR',
  remedy:
    'Retry; netctl trace computes the same outside of the agent. If the error recurs, report it.',
});

/** A node with 10,000 values takes a second or two. */
const LIMIT_MS = 10_000;
/** The server handles four requests at once: others must not wait for traces. */
const MAX_WAITING = 1;
const CHUNK_LENGTH = 256 * 1024;

export class PairTracer {
  readonly #clock: Clock;
  #last: Promise<unknown> = Promise.resolve();
  /** The running one is among them. */
  #count = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * @param read reads the input, when it is the turn of this trace
   * @throws TraceBusyError, PairTraceError, and what `read` throws
   */
  async trace(read: () => Promise<TraceInput>): Promise<FromTraceWorker> {
    if (this.#count > MAX_WAITING) throw new TraceBusyError('other traces are being computed');
    this.#count++;
    const turn = this.#last;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#last = promise;
    try {
      await turn;
      return await this.#traceInThread(await read());
    } finally {
      this.#count--;
      resolve();
    }
  }

  async #traceInThread({ node, ...request }: TraceInput): Promise<FromTraceWorker> {
    const worker = new Worker(new URL('./trace-worker.ts', import.meta.url));
    const post = (message: ToTraceWorker): void => worker.postMessage(message);
    const answer = workerAnswer<FromTraceWorker>(worker, {
      clock: this.#clock,
      limitMs: LIMIT_MS,
      failure: (text, cause) => new PairTraceError(`the trace: ${text}`, { cause }),
    });
    // Until it is awaited below, a failure must not end the process.
    answer.catch(() => undefined);
    try {
      const slices = new Slices(this.#clock);
      let chunk = '';
      for (const piece of jsonPieces(node, '', 0)) {
        if (slices.due()) await slices.turn();
        chunk += piece;
        if (chunk.length < CHUNK_LENGTH) continue;
        post(chunk);
        chunk = '';
      }
      post(chunk);
      post(request);
      return await answer;
    } finally {
      await worker.terminate();
    }
  }
}
