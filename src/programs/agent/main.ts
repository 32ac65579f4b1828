#!/usr/bin/env node
/** contiv-agent: reads flags and configuration, runs the agent until it is told to end. */
import { systemClock, systemRandom } from '#infra/clock/system.ts';
import { CodedError, errorText } from '#infra/errors/errors.ts';
import { Loggers } from '#infra/log/loggers.ts';
import { createAgent } from './agent.ts';
import { buildInfo } from './build.ts';
import { parseFlags } from './flags.ts';
import { openEnvironment } from './open-environment.ts';
import { playKubelet } from './play.ts';
import { readSettings } from './settings.ts';

/** The agent was told something that makes no sense; starting it again does not help. */
const EXIT_CONFIG = 2;
const configCodes: ReadonlySet<string> = new Set([
  'CV_CONFIG_INVALID',
  'CV_HTTP_CONFIG',
  'CV_LOG_LEVEL',
  'CV_MANIFESTS_UNREADABLE',
  'CV_STORE_CONFIG',
]);
const EXIT_FAILURE = 1;

async function run(): Promise<void> {
  const flags = parseFlags(process.argv.slice(2), process.env);
  const settings = readSettings(flags, process.env);
  const loggers = new Loggers(settings.logs, process.env['INITIAL_LOGLVL']);
  const print = (text: string): void => void process.stdout.write(text);
  const parts = { clock: systemClock, random: systemRandom, loggers };
  const environment = await openEnvironment(settings, parts);
  const agent = createAgent({
    ...parts,
    settings,
    environment,
    build: buildInfo(process.env),
    print,
  });
  if (flags.undeploy) {
    await agent.undeploy();
    return environment.close();
  }
  const ended = endOfProcess();
  try {
    const started = settings.embedded
      ? playKubelet(agent, { settings, environment, ...parts, print })
      : agent.start();
    // A start that waits for VPP must not keep the agent from ending.
    const signal = await Promise.race([ended, started.then(() => ended)]);
    loggers.get('agent').info({ signal }, 'ending; the configuration stays');
  } finally {
    await agent.stop();
    await environment.close();
  }
}

/** Resolves with the first signal to end; a second one ends the process at once. */
function endOfProcess(): Promise<string> {
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const)
      process.once(signal, () => {
        resolve(signal);
        process.once(signal, () => process.exit(EXIT_FAILURE));
      });
  });
}

run().then(
  () => process.exit(),
  (error: unknown) => {
    const { code, remedy } = error instanceof CodedError ? error : { code: '', remedy: '' };
    process.stderr.write(`contiv-agent: ${errorText(error)}\n`);
    if (code) process.stderr.write(`${code}: ${remedy}\n`);
    else if (error instanceof Error) process.stderr.write(`${error.stack}\n`);
    process.exit(configCodes.has(code) ? EXIT_CONFIG : EXIT_FAILURE);
  },
);
