#!/usr/bin/env -S node --max-semi-space-size=8 --invocation-count-for-maglev-osr=2000 --invocation-count-for-turbofan=100000 --initial-old-space-size=128 --heap-growing-percent=100 --no-memory-reducer --no-parallel-scavenge
/**
 * contiv-agent. Handles signals before it loads the other modules, which takes a while.
 *
 * The first line is the one place for the flags of Node.js. A small young generation: collecting it
 * stalls the main thread for less than 10 ms, also without the help of other threads (`no-parallel-scavenge`), which takes more
 * processor time than it saves. The old generation is first collected when it has 128 MB: its
 * collections while the memory of the agent grows for the first time were the longest stretches of the main
 * thread. From then on it is collected when it has doubled (`heap-growing-percent`), or approaches its limit, and not
 * because 100 s have passed (`no-memory-reducer`): V8 counts what a collection takes of the main thread alone, and collected
 * 900 MB every 26 s in other threads, and some of these collections stalled the main thread for 100 to 250 ms. And V8 compiles later: a loop while
 * it runs (`maglev-osr`, after which the last compiler follows soon), and
 * with its last compiler (`turbofan`). Both cost a large first transaction more than they save.
 */
import { enableCompileCache } from 'node:module';
import { join } from 'node:path';
import { systemClock } from '#infra/clock/system.ts';
import { terminationSignal } from '#infra/process/signals.ts';

const ended = terminationSignal(systemClock);
let isLoaded = false;
void ended.then(() => {
  // Nothing is started yet, so nothing has to be stopped.
  if (!isLoaded) process.exit();
});
// Written when the process exits, for the next start. Node.js compiles what it does not find there, or
// finds damaged, and does without a folder that it cannot write. NODE_COMPILE_CACHE is another folder.
enableCompileCache(join(import.meta.dirname, '../../../.cache/compiled'));
const { runAgent } = await import('./run-agent.ts');
isLoaded = true;
process.exit(await runAgent(process.argv.slice(2), process.env, ended));
