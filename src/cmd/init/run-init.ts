/** Reads flags and configuration, and runs VPP and the agent until a signal stops them. */
import { CommanderError } from 'commander';
import type { EtcdOptions } from '#datastore/etcd/options.ts';
import { openEtcd } from '#datastore/open-etcd.ts';
import { systemClock, systemRandom } from '#infra/clock/system.ts';
import { CodedError, errorText, traitsOf } from '#infra/errors/errors.ts';
import type { Logger } from '#infra/log/log.ts';
import { Loggers } from '#infra/log/loggers.ts';
import { Output } from '#infra/log/output.ts';
import { checkProgram } from '#infra/process-manager/child-process.ts';
import { ProcessManager } from '#infra/process-manager/process-manager.ts';
import { AgentCopy } from '#init/agent-copy.ts';
import { ApiSocketLock } from '#init/api-socket-lock.ts';
import { hostLinks } from '#init/host-links.ts';
import { HostPreparation } from '#init/host-preparation.ts';
import { NodeConfigReader } from '#init/node-config-reader.ts';
import { removeStaleSocket } from '#init/stale-socket.ts';
import { StolenNic } from '#init/stolen-nic.ts';
import { VppMessages } from '#init/vpp-messages.ts';
import { vppProgram } from '#init/vpp-program.ts';
import { type AgentProgram, Vswitch } from '#init/vswitch.ts';
import { sysfsPciDevices } from '#stn/daemon/pci-devices.ts';
import type { StnDaemon } from '#stn/daemon-client.ts';
import { type InitFlags, parseFlags } from './flags.ts';
import { type InitSettings, readSettings } from './settings.ts';

/** The configuration or an argument is invalid; a restart does not help. */
const EXIT_CONFIG = 2;
const EXIT_FAILURE = 1;

const STANDARD_OUTPUT = 1;

/** Of the sockets and of the generated startup configuration. */
const RUNTIME_FOLDER = '/run/vpp';

type Variables = Readonly<Record<string, string | undefined>>;

/**
 * @param stop aborted with the name of the signal that stops both programs
 * @returns the exit code; errors are printed on the standard error
 */
export async function runInit(
  argv: readonly string[],
  env: Variables,
  stop: AbortSignal,
): Promise<number> {
  try {
    await run(argv, env, stop);
    return 0;
  } catch (thrown) {
    // Its text is printed already; --help has exit code 0.
    if (thrown instanceof CommanderError) return thrown.exitCode === 0 ? 0 : EXIT_CONFIG;
    process.stderr.write(`contiv-init: ${errorText(thrown)}\n`);
    if (thrown instanceof CodedError) process.stderr.write(`${thrown.code}: ${thrown.remedy}\n`);
    else if (thrown instanceof Error) process.stderr.write(`${thrown.stack}\n`);
    return traitsOf(thrown).rejects === 'configuration' ? EXIT_CONFIG : EXIT_FAILURE;
  }
}

async function run(argv: readonly string[], env: Variables, stop: AbortSignal): Promise<void> {
  const flags = parseFlags(argv, env);
  const settings = readSettings(flags, env);
  const clock = systemClock;
  const output = new Output(STANDARD_OUTPUT, clock);
  const loggers = new Loggers(settings.logs, env['INITIAL_LOGLVL'], output);
  const log = loggers.get('init');
  // Before anything is changed on the host.
  checkProgram('vpp', flags.vppBin);
  if (!flags.isVppOnly) checkProgram('agent', flags.agentBin);
  const manager = new ProcessManager({ clock, random: systemRandom, log });
  const vswitch = new Vswitch({
    vppCommand: flags.vppBin,
    agent: flags.isVppOnly ? undefined : agentProgram(flags, settings, log),
    preparation: hostPreparation(flags, settings, log),
    staysAfterCrash: settings.staysAfterCrash,
    manager,
    vppMessages: new VppMessages({ write: (bytes) => process.stderr.write(bytes), clock, log }),
    clock,
    log,
  });
  stop.addEventListener('abort', () => log.info({ signal: stop.reason }, 'stopping'));
  process.on('SIGUSR1', () => vswitch.debugAgent());
  // By default it would end this process, and with it VPP.
  process.on('SIGUSR2', () => log.warn('ignoring SIGUSR2'));
  await vswitch.run(stop);
}

function agentProgram(
  { agentBin, agentArgs }: InitFlags,
  { grpc }: InitSettings,
  log: Logger,
): AgentProgram {
  return {
    command: agentBin,
    args: agentArgs,
    prepare: async () => {
      // Until the agent listens, contiv-cni must not wait for an answer on the socket of the last one.
      if (grpc.network === 'unix') await removeStaleSocket(grpc.endpoint, log);
    },
  };
}

function hostPreparation(flags: InitFlags, settings: InitSettings, log: Logger): HostPreparation {
  const { label: nodeName, contiv: config, etcd, localFolder, mirrorFolder } = settings;
  const ports = { clock: systemClock, random: systemRandom, log };
  const socket = flags.stnSocket ?? config.stnSocketFile;
  const databases = {
    ...ports,
    nodeName,
    etcd: etcd && { get: (key: string) => readEtcd(etcd, key) },
    mirrorFolder,
  };
  return new HostPreparation({
    ...ports,
    nodeName,
    config,
    givenFile: flags.vppConfig,
    runtimeFolder: RUNTIME_FOLDER,
    lock: new ApiSocketLock(systemClock, log),
    nodeConfigs: new NodeConfigReader({ ...databases, localFolder }),
    agentCopy: new AgentCopy(databases),
    pci: sysfsPciDevices(systemClock),
    vppProgram: () => vppProgram(flags.vppBin),
    nic: new StolenNic({
      ...ports,
      daemon: () => stnDaemon(socket),
      daemonSocket: socket,
      hostLinks,
    }),
  });
}

/** @throws StoreUnavailableError */
async function readEtcd(options: EtcdOptions, key: string): Promise<string | undefined> {
  const store = await openEtcd(options, systemClock);
  try {
    return await store.get(key);
  } finally {
    await store.close();
  }
}

/** The library of gRPC is loaded only where there is a daemon. */
async function stnDaemon(socket: string): Promise<StnDaemon> {
  const { stnDaemonClient } = await import('#stn/daemon-client.ts');
  return stnDaemonClient(socket, systemClock);
}
