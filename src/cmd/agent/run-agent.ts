/**
 * Reads flags and configuration, and runs the agent until a signal stops it. Loads only the modules of the command:
 * those of the agent are a second of CPU time.
 */
import { CommanderError } from 'commander';
import { systemClock, systemRandom } from '#infra/clock/system.ts';
import { CodedError, defineError, errorText, traitsOf } from '#infra/errors/errors.ts';
import { Loggers } from '#infra/log/loggers.ts';
import { Output } from '#infra/log/output.ts';
import { buildInfo } from '#infra/process/build-info.ts';
import type { Agent } from './agent.ts';
import { type AgentFlags, parseFlags } from './flags.ts';

/** The configuration or an argument is invalid; a restart does not help. */
const EXIT_CONFIG = 2;
const EXIT_FAILURE = 1;

const STANDARD_OUTPUT = 1;

export const UndeployInterruptedError = defineError({
  name: 'UndeployInterruptedError',
  code: 'CV_UNDEPLOY_INTERRUPTED',
  remedy: 'Run undeploy again: it continues where it stopped.',
});

export const StandardOutputError = defineError({
  name: 'StandardOutputError',
  code: 'CV_STANDARD_OUTPUT',
  remedy: 'Free space where the standard output is written to, and run the command again.',
});

type Variables = Readonly<Record<string, string | undefined>>;

/**
 * @param ended resolves with the name of the signal that stops the agent
 * @returns the exit code; errors are printed on the standard error
 */
export async function runAgent(
  argv: readonly string[],
  env: Variables,
  ended: Promise<string>,
): Promise<number> {
  try {
    return await runCommand(argv, env, ended);
  } catch (thrown) {
    // Its text is printed already; --help has exit code 0.
    if (thrown instanceof CommanderError) return thrown.exitCode === 0 ? 0 : EXIT_CONFIG;
    const { code, remedy } = thrown instanceof CodedError ? thrown : { code: '', remedy: '' };
    process.stderr.write(`contiv-agent: ${errorText(thrown)}\n`);
    if (code) process.stderr.write(`${code}: ${remedy}\n`);
    else if (thrown instanceof Error) process.stderr.write(`${thrown.stack}\n`);
    return traitsOf(thrown).rejects === 'configuration' ? EXIT_CONFIG : EXIT_FAILURE;
  }
}

async function runCommand(
  argv: readonly string[],
  env: Variables,
  ended: Promise<string>,
): Promise<number> {
  const flags = parseFlags(argv, env);
  const { show, shown } = standardOutput();
  const code = await runQuery(flags, env, ended, show);
  if (code !== undefined) {
    await shown();
    return code;
  }
  const { readSettings } = await import('./settings.ts');
  const settings = readSettings(flags, env);
  const ports = { clock: systemClock, random: systemRandom };
  if (flags.printConfig) {
    const { printConfig } = await import('./print-config.ts');
    await printConfig({ ...ports, settings }, show);
    await shown();
    return 0;
  }
  const output = new Output(STANDARD_OUTPUT, systemClock);
  if (flags.embedded && !flags.undeploy) {
    const { embeddedNodes } = await import('./embedded-nodes.ts');
    const nodes = embeddedNodes(flags, env);
    const { bannerText } = await import('#demonstration/banner.ts');
    output.write(bannerText(nodes.length, buildInfo(env).version));
    const { runDemonstration } = await import('./run-demonstration.ts');
    await runDemonstration(nodes, output, ended);
    return 0;
  }
  const print = (text: string): void => output.write(text);
  const loggers = new Loggers(settings.logs, env['INITIAL_LOGLVL'], output);
  const parts = { ...ports, loggers };
  const { openEnvironment } = await import('./open-environment.ts');
  const { createAgent } = await import('./agent.ts');
  const { loadPluginModules } = await import('./plugin-modules/load.ts');
  const pluginModules = await loadPluginModules(settings.plugins);
  const environment = await openEnvironment(settings, parts);
  const build = buildInfo(env);
  const agent = createAgent({ ...parts, settings, environment, pluginModules, build, print });
  try {
    if (flags.undeploy) {
      await undeploy(agent, ended);
      return 0;
    }
    // A start that waits for VPP must not block the stop.
    const signal = await Promise.race([ended, agent.start().then(() => ended)]);
    loggers.get('agent').info({ signal }, 'stopping; the configuration stays in place');
    return 0;
  } finally {
    await agent.stop();
    await environment.close();
  }
}

/** Commands that change nothing on the node. @returns undefined: the arguments name none */
async function runQuery(
  flags: AgentFlags,
  env: Variables,
  ended: Promise<string>,
  show: (text: string) => void,
): Promise<number | undefined> {
  if (flags.replay !== undefined)
    return await replayUntil(flags.replay, flags.loadPlugins, ended, show);
  if (flags.report !== undefined) {
    const ports = { clock: systemClock, random: systemRandom };
    const { report } = await import('./report/report.ts');
    await report(flags.report, { ...ports, flags, env, build: buildInfo(env), ended }, show);
    return 0;
  }
  if (flags.trace) {
    const { trace } = await import('./trace.ts');
    return (await trace(flags.trace, show)) ? 0 : EXIT_FAILURE;
  }
  if (!flags.connectivity) return undefined;
  const warn = (text: string): void => void process.stderr.write(text);
  const { connectivity } = await import('./connectivity.ts');
  const isPermitted = await connectivity(flags.connectivity, systemClock, { print: show, warn });
  return isPermitted ? 0 : EXIT_FAILURE;
}

interface StandardOutput {
  readonly show: (text: string) => void;
  /**
   * Resolves when everything is written: the end of the process would discard what a slow reader has not taken.
   * @throws StandardOutputError
   */
  readonly shown: () => Promise<void>;
}

/** The stream is opened with the first text: a running agent writes past it. */
function standardOutput(): StandardOutput {
  let state: 'unused' | 'open' | 'closed' = 'unused';
  let failure: NodeJS.ErrnoException | undefined;
  const close = (error: NodeJS.ErrnoException): void => {
    state = 'closed';
    // a reader that ends, such as head, needs no more text
    if (error.code !== 'EPIPE') failure ??= error;
  };
  return {
    show: (text) => {
      if (state === 'unused') process.stdout.on('error', close);
      if (state !== 'closed') process.stdout.write(text);
      if (state === 'unused') state = 'open';
    },
    shown: async () => {
      if (state === 'open') await new Promise((done) => process.stdout.write('', done));
      process.stdout.off('error', close);
      if (failure) throw new StandardOutputError(errorText(failure), { cause: failure });
    },
  };
}

/** A replay changes nothing, so it may be stopped at any time. */
async function replayUntil(
  path: string,
  loadsPlugins: boolean,
  ended: Promise<string>,
  print: (text: string) => void,
): Promise<number> {
  const { replay } = await import('./replay.ts');
  const isSame = await Promise.race([replay(path, print, loadsPlugins), ended.then(() => false)]);
  return isSame ? 0 : EXIT_FAILURE;
}

async function undeploy(agent: Agent, ended: Promise<string>): Promise<void> {
  const interrupted = ended.then((signal) => {
    throw new UndeployInterruptedError(`undeploy was interrupted by ${signal}`);
  });
  await Promise.race([agent.undeploy(), interrupted]);
}
