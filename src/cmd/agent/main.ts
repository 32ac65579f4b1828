#!/usr/bin/env -S node --max-semi-space-size=8
/** contiv-agent. Handles signals before it loads the other modules, which takes a while. */
import { systemClock } from '#infra/clock/system.ts';
import { terminationSignal } from './signals.ts';

const ended = terminationSignal(systemClock);
let isLoaded = false;
void ended.then(() => {
  // Nothing is started yet, so nothing has to be stopped.
  if (!isLoaded) process.exit();
});
const { runAgent } = await import('./run-agent.ts');
isLoaded = true;
process.exit(await runAgent(process.argv.slice(2), process.env, ended));
