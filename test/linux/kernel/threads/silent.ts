/** A thread that answers no batch with a command on the namespace `/silent`, and ends on `/fatal`. */
import { parentPort } from 'node:worker_threads';
import type { Command } from '#linux/kernel/commands.ts';

let batches = 0;

parentPort!.on('message', (commands: readonly Command[]) => {
  batches++;
  const named = (path: string) => commands.some(({ namespace }) => namespace === path);
  if (named('/silent')) return;
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
  parentPort!.postMessage(commands.map(() => ({ failure })));
});
