/**
 * Loaded before each test file of `npm test`.
 *
 * Random cases are the same each time, so that no run fails for a change that was not made;
 * `node --test FILE` draws new ones.
 *
 * The test runner follows every promise to the test that created it, which takes half of the
 * processor time of asynchronous tests. Here it follows timers, sockets and the like only. An error
 * that is thrown outside of any promise after an `await` has no test then: it ends the process, and
 * the file fails with the stack.
 */
import hooks, { executionAsyncId, type HookCallbacks } from 'node:async_hooks';
import { syncBuiltinESMExports } from 'node:module';
import { isMainThread } from 'node:worker_threads';
import fc from 'fast-check';

fc.configureGlobal({ seed: 1 });

/** Milliseconds for a file to end its own programs after its time limit. */
const KILL_DELAY_MS = 3_000;

/** Resources of which the test runner knows the test. */
const followed = new Set<number>();
const { createHook } = hooks;

hooks.createHook = (callbacks: HookCallbacks) => {
  const { init, destroy } = callbacks;
  const options = {
    ...callbacks,
    trackPromises: false,
    init(id: number, type: string, trigger: number, resource: object) {
      const isTest = /^(Test|Suite|TestHook)$/.test(resource.constructor?.name ?? '');
      if (isTest || followed.has(trigger)) followed.add(id);
      init?.(id, type, trigger, resource);
    },
    destroy(id: number) {
      followed.delete(id);
      destroy?.(id);
    },
  };
  return createHook(options);
};
syncBuiltinESMExports();

// An error in a worker thread belongs to the code that started the thread.
if (isMainThread) {
  process.on('uncaughtException', (error) => {
    if (followed.has(executionAsyncId())) return;
    process.stderr.write(`uncaught exception: ${error.stack ?? error}\n`);
    process.exit(1);
  });
  process.on('unhandledRejection', (error) => {
    if (followed.has(executionAsyncId())) return;
    process.stderr.write(`unhandled rejection: ${error instanceof Error ? error.stack : error}\n`);
    process.exit(1);
  });
  // The runner ends a file beyond its time limit by this signal, and waits for the process, which a browser's client
  // would hold up for ever.
  process.once('SIGTERM', () => setTimeout(() => process.exit(143), KILL_DELAY_MS));
}
