/**
 * A thread that answers no command after the first on the namespace `/silent`, and ends on `/fatal`. It takes as long
 * to start as on a machine with little CPU.
 */
import { parentPort } from 'node:worker_threads';
import type { Command, ThreadMessage } from '#linux/kernel/commands.ts';

const START_MS = 300;

let batches = 0;

parentPort!.on('message', (commands: readonly Command[]) => {
  batches++;
  const named = (path: string) => commands.some(({ namespace }) => namespace === path);
  if (named('/fatal')) process.exit(1);
  if (named('/thrown')) throw new Error('a defect of the thread');
  if (named('/memory')) {
    const hog: number[][] = [];
    for (;;) hog.push(Array.from({ length: 100_000 }, (_, i) => i));
  }
  // the answer contains the size and the number of the batch
  const failure = {
    text: `${commands.length} in batch ${batches}`,
    where: 'test',
    errno: 'EPERM',
    isNamespaceGone: false,
  };
  for (const { namespace } of commands) {
    if (namespace === '/silent') return;
    parentPort!.postMessage({ failure } satisfies ThreadMessage);
  }
});

Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, START_MS);
parentPort!.postMessage('ready' satisfies ThreadMessage);
