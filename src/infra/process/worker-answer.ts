/** The answer of a worker thread that serves one request and ends. */
import type { Worker } from 'node:worker_threads';
import type { Clock, Timer } from '#infra/clock/clock.ts';

/** The first message of such a thread: its modules are loaded, and it starts with the request. */
export const WORKER_READY = 'ready';

export interface AnswerOptions {
  readonly clock: Clock;
  /** From the start of the work on: the start of a thread lasts as long as the machine is busy. */
  readonly limitMs: number;
  /** @param text why no answer comes */
  readonly failure: (text: string, cause?: Error) => Error;
}

/** @throws what `failure` returns when the time limit is over, or the thread fails or ends */
export function workerAnswer<T>(worker: Worker, options: AnswerOptions): Promise<T> {
  const { clock, limitMs, failure } = options;
  return new Promise((resolve, reject) => {
    let limit: Timer | undefined;
    worker.on('message', (message: T | typeof WORKER_READY) => {
      if (message !== WORKER_READY) return resolve(message);
      limit = clock.timer(limitMs, () => reject(failure(`no result within ${limitMs / 1000} s`)));
    });
    worker.once('error', (cause) => reject(failure(cause.message, cause)));
    worker.once('exit', () => {
      limit?.cancel();
      reject(failure('the worker thread ended without a result'));
    });
  });
}
