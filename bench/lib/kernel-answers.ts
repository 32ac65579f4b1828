import type { Worker } from 'node:worker_threads';
import type { Outcome, ThreadMessage } from '#linux/kernel/commands.ts';

/** The outcomes of a batch, which the thread sends one by one: resolves with the last. */
export function answersOf(thread: Worker, count: number): Promise<readonly Outcome[]> {
  return new Promise((resolve) => {
    const outcomes: Outcome[] = [];
    const listen = (message: ThreadMessage): void => {
      if (message === 'ready') return;
      outcomes.push(message);
      if (outcomes.length < count) return;
      thread.off('message', listen);
      resolve(outcomes);
    };
    thread.on('message', listen);
  });
}
