#!/usr/bin/env -S node --max-semi-space-size=8
/** contiv-agent. Signals are listened for before the rest is loaded, which takes a while. */
import { systemClock } from '#infra/clock/system.ts';
import { terminationSignal } from './signals.ts';

const ended = terminationSignal(systemClock);
let isLoaded = false;
void ended.then(() => {
  // Nothing has begun yet, so there is nothing to end.
  if (!isLoaded) process.exit();
});
const { runAgent } = await import('./run-agent.ts');
isLoaded = true;
process.exit(await runAgent(process.argv.slice(2), process.env, ended));
