#!/usr/bin/env node
/** contiv-agent: reads flags and configuration, runs the agent until it is told to end. */
import { execFileSync } from 'node:child_process';
import { systemClock, systemRandom } from '#infra/clock/system.ts';
import { CodedError } from '#infra/errors/errors.ts';
import { Loggers } from '#infra/log/loggers.ts';
import { createAgent } from './agent.ts';
import { openEnvironment } from './environment.ts';
import { parseFlags } from './flags.ts';
import { readSettings } from './settings.ts';
