#!/usr/bin/env node
/** contiv-cni: the container runtime runs it for each pod that is created or deleted. */
import { writeSync } from 'node:fs';
import { systemClock } from '#infra/clock/system.ts';
import { logCall } from './call-log.ts';
import { readInput } from './read-input.ts';
import { runCni } from './run-cni.ts';

const STDIN = 0;
const STDOUT = 1;

const start = systemClock.monotonic();
void runCni(process.env, () => readInput(STDIN)).then((outcome) => {
  // Logs first: the runtime may kill this process as soon as it has the result.
  logCall(process.env, outcome, systemClock, start);
  if (outcome.output !== '') writeSync(STDOUT, outcome.output);
  process.exit(outcome.failure ? 1 : 0);
});
