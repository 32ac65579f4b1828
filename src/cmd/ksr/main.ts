#!/usr/bin/env -S node --max-semi-space-size=8
/**
 * contiv-ksr, the state reflector: from the Kubernetes API server to etcd. Handles signals before it loads
 * the other modules, which takes a while.
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
const { runKsr } = await import('./run-ksr.ts');
isLoaded = true;
process.exit(await runKsr(process.argv.slice(2), process.env, ended));
