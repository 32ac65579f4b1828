#!/usr/bin/env node
/** contiv-cni, which the container runtime runs for each pod that comes or goes. */
import { writeSync } from 'node:fs';
import { systemClock } from '#infra/clock/system.ts';
import { logCall } from './call-log.ts';
import { readInput } from './read-input.ts';
import { runCni } from './run-cni.ts';

const STDIN = 0;
const STDOUT = 1;

const start = systemClock.monotonic();
void runCni(process.env, () => readInput(STDIN)).then((outcome) => {
  // The log comes first: a runtime that has its answer may end us.
  logCall(process.env, outcome, systemClock, start);
  if (outcome.output !== '') writeSync(STDOUT, outcome.output);
  process.exit(outcome.failure ? 1 : 0);
});
