/** Reads the flags, and runs contiv-stn until a signal stops it. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CommanderError } from 'commander';
import { Value } from 'typebox/value';
import { systemClock } from '#infra/clock/system.ts';
import { CodedError, errorText, traitsOf } from '#infra/errors/errors.ts';
import { httpSchema } from '#infra/http/config.ts';
import { Loggers, logsSchema } from '#infra/log/loggers.ts';
import { Output } from '#infra/log/output.ts';
import { buildInfo } from '#infra/process/build-info.ts';
import { netlinkNetwork } from '#stn/daemon/netlink-network.ts';
import { sysfsPciDevices } from '#stn/daemon/pci-devices.ts';
import { createStnDaemon } from '#stn/daemon/wire-stn-daemon.ts';
import { parseFlags, type StnFlags } from './flags.ts';

/** An argument is invalid; a restart does not help. */
const EXIT_CONFIG = 2;
const EXIT_FAILURE = 1;

const STANDARD_OUTPUT = 1;

type Variables = Readonly<Record<string, string | undefined>>;

/**
 * @param ended resolves with the name of the signal that stops the daemon
 * @returns the exit code; errors are printed on the standard error
 */
export async function runStn(
  argv: readonly string[],
  env: Variables,
  ended: Promise<string>,
): Promise<number> {
  try {
    await run(parseFlags(argv), env, ended);
    return 0;
  } catch (thrown) {
    // Its text is printed already; --help has exit code 0.
    if (thrown instanceof CommanderError) return thrown.exitCode === 0 ? 0 : EXIT_CONFIG;
    process.stderr.write(`contiv-stn: ${errorText(thrown)}\n`);
    if (thrown instanceof CodedError) process.stderr.write(`${thrown.code}: ${thrown.remedy}\n`);
    else if (thrown instanceof Error) process.stderr.write(`${thrown.stack}\n`);
    return traitsOf(thrown).rejects === 'configuration' ? EXIT_CONFIG : EXIT_FAILURE;
  }
}

async function run(flags: StnFlags, env: Variables, ended: Promise<string>): Promise<void> {
  const output = new Output(STANDARD_OUTPUT, systemClock);
  const loggers = new Loggers(Value.Create(logsSchema), env['INITIAL_LOGLVL'], output);
  const log = loggers.get('stn');
  if (flags.hasStatusCheck)
    log.warn('--statuscheck has no effect: the link vpp1 shows whether the vswitch runs');
  const daemon = createStnDaemon({
    socketPath: flags.socketPath,
    stateFolder: flags.stateDir,
    http: {
      ...Value.Create(httpSchema),
      endpoint: `127.0.0.1:${flags.httpPort}`,
      'local-socket': join(flags.stateDir, 'http.sock'),
    },
    network: netlinkNetwork(),
    pci: sysfsPciDevices(systemClock),
    bootId: readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim(),
    build: buildInfo(env),
    clock: systemClock,
    loggers,
  });
  try {
    await daemon.start();
    log.info({ signal: await ended }, 'stopping');
  } finally {
    await daemon.stop();
  }
}
