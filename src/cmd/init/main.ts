#!/usr/bin/env -S node --max-semi-space-size=1
/**
 * contiv-init, which starts VPP and the agent of a node. Handles signals before it loads the other modules,
 * which takes a while.
 */
import { enableCompileCache } from 'node:module';
import { join } from 'node:path';

const stop = new AbortController();
let isLoaded = false;
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'])
  process.on(signal, () => {
    // Nothing is started yet, so nothing has to be stopped.
    if (!isLoaded) process.exit();
    stop.abort(signal);
  });
enableCompileCache(join(import.meta.dirname, '../../../.cache/compiled'));
const { runInit } = await import('./run-init.ts');
isLoaded = true;
process.exit(await runInit(process.argv.slice(2), process.env, stop.signal));
