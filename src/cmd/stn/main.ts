#!/usr/bin/env -S node --max-semi-space-size=2
/**
 * contiv-stn, the daemon of the host that takes NICs for VPP. Handles signals before it loads the other
 * modules, which takes a while.
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
enableCompileCache(join(import.meta.dirname, '../../../.cache/compiled'));
const { runStn } = await import('./run-stn.ts');
isLoaded = true;
process.exit(await runStn(process.argv.slice(2), process.env, ended));
