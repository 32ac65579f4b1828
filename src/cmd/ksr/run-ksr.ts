/** Reads flags and configuration, and runs the reflector until a signal stops it. */
import { hostname } from 'node:os';
import { CommanderError } from 'commander';
import { etcdOptions } from '#datastore/config.ts';
import { EtcdStore } from '#datastore/etcd/store.ts';
import { systemClock, systemRandom } from '#infra/clock/system.ts';
import { CodedError, errorText, traitsOf } from '#infra/errors/errors.ts';
import { Loggers } from '#infra/log/loggers.ts';
import { Output } from '#infra/log/output.ts';
import { buildInfo } from '#infra/process/build-info.ts';
import { createApiServer } from '#ksr/api-server/wire-api-server.ts';
import { createKsr } from '#ksr/wire-ksr.ts';
import { parseFlags } from './flags.ts';
import { readSettings } from './settings.ts';

/** The configuration or an argument is invalid; a restart does not help. */
const EXIT_CONFIG = 2;
const EXIT_FAILURE = 1;

const STANDARD_OUTPUT = 1;

/** Prefix of the original's election, in which the candidates of both programs exclude each other. */
const ELECTION_PREFIX = '/contiv-ksr/election';

type Variables = Readonly<Record<string, string | undefined>>;

/**
 * @param ended resolves with the name of the signal that stops the reflector
 * @returns the exit code; errors are printed on the standard error
 */
export async function runKsr(
  argv: readonly string[],
  env: Variables,
  ended: Promise<string>,
): Promise<number> {
  try {
    await run(argv, env, ended);
    return 0;
  } catch (thrown) {
    // Its text is printed already; --help has exit code 0.
    if (thrown instanceof CommanderError) return thrown.exitCode === 0 ? 0 : EXIT_CONFIG;
    process.stderr.write(`contiv-ksr: ${errorText(thrown)}\n`);
    if (thrown instanceof CodedError) process.stderr.write(`${thrown.code}: ${thrown.remedy}\n`);
    else if (thrown instanceof Error) process.stderr.write(`${thrown.stack}\n`);
    return traitsOf(thrown).rejects === 'configuration' ? EXIT_CONFIG : EXIT_FAILURE;
  }
}

async function run(argv: readonly string[], env: Variables, ended: Promise<string>): Promise<void> {
  const settings = readSettings(parseFlags(argv, env), env);
  const ports = { clock: systemClock, random: systemRandom };
  const output = new Output(STANDARD_OUTPUT, systemClock);
  const loggers = new Loggers(settings.logs, env['INITIAL_LOGLVL'], output);
  const log = loggers.get('ksr');
  for (const warning of settings.warnings) log.warn(warning);
  const created = createApiServer({
    ...ports,
    kubeConfig: settings.kubeConfig,
    log: loggers.get('api-server'),
  });
  // A credential plugin may take longer than Kubernetes waits for the end, and nothing has to be stopped.
  const apiServer = await Promise.race([created, ended.then(() => undefined)]);
  if (!apiServer) return;
  const store = new EtcdStore(etcdOptions(settings.etcd, env), systemClock);
  const election = store.election({
    prefix: ELECTION_PREFIX,
    ttl: settings.ksr['election-ttl'],
    name: env['HOSTNAME'] || hostname(),
    log: loggers.get('election'),
  });
  const ksr = createKsr({
    ...ports,
    label: settings.label,
    readers: settings.ksr.readers,
    http: settings.http,
    apiServer,
    store,
    election,
    build: buildInfo(env),
    certificates: {
      'etcd authority': settings.etcd['ca-file'],
      'etcd client': settings.etcd['cert-file'],
      rest: settings.http['server-cert-file'],
    },
    loggers,
  });
  try {
    await ksr.start();
    log.info({ signal: await ended }, 'stopping; the records stay');
  } finally {
    await ksr.stop();
    await store.close();
  }
}
