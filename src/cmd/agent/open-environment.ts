/**
 * Opens the environment of the agent: either the real stores, VPP and Linux, or embedded ones in the
 * same process.
 */
import { statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { etcdOptions } from '#datastore/config.ts';
import { levelFolder, mirrorFolder } from '#datastore/level-folder.ts';
import { openEtcd } from '#datastore/open-etcd.ts';
import { errorText } from '#infra/errors/errors.ts';
import type { Logger } from '#infra/log/log.ts';
import { LinuxError } from '#linux/api.ts';
import { kernelHost } from '#linux/kernel/host.ts';
import { thisMachine } from '#linux/kernel/machine.ts';
import { prepareHost } from '#linux/kernel/prepare-host.ts';
import type { FlowSource } from '#linux/socket-flows/api.ts';
import type { SeenConnections } from '#linux/socket-flows/kernel-flows.ts';
import {
  FlowsUnavailableError,
  openFlowSource,
  removeFlowSource,
} from '#linux/socket-flows/open.ts';
import type { SocketTable } from '#linux/socket-services/api.ts';
import type { NamespaceCookies } from '#linux/socket-services/kernel-table.ts';
import {
  openSocketTable,
  removeSocketTable,
  SocketServicesUnavailableError,
} from '#linux/socket-services/open.ts';
import type { DatagramSockets } from '#linux/socket-services/stale-sockets.ts';
import { problemText } from '#plugins/controller/problems.ts';
import { unixConnect } from '#vpp/binapi/transport/unix.ts';
import { keyFile } from '#vpp/wireguard/key-file.ts';
import type { Environment, EnvironmentDeps } from './environment.ts';
import { openExternal, openLevel, openOwnStore } from './open-level.ts';
import type { Settings } from './settings.ts';

/** File names of the Go agent's databases: its mirror of etcd, and external configuration. */
const BOLT_FILE = 'bolt.db';
const EXTERNAL_BOLT_FILE = 'grpc.db';

/**
 * Beside etcd the local store describes pods, and no pod survives a loss of power. So their ADDs do not wait for the
 * disk, which may take half a second while others write to it.
 */
const LOCAL_SYNC_DELAY_MS = 1_000;

export async function openEnvironment(
  settings: Settings,
  parts: EnvironmentDeps,
): Promise<Environment> {
  const { bolt, mirror: mirrorConfig, etcd, env } = settings;
  if (settings.embedded) {
    // Loads the simulator only when it is used.
    const { openSimulated } = await import('./open-simulated.ts');
    return openSimulated(settings, parts);
  }
  const { clock, loggers } = parts;
  const log = loggers.get('local-store');
  const folder = localFolder(bolt['db-path'], log);
  const local = await openOwnStore(folder, bolt, parts, {
    syncDelayMs: etcd ? LOCAL_SYNC_DELAY_MS : 0,
  });
  const external = settings.grpc2 && (await openExternal(folder, bolt, parts));
  if (external) {
    const file = join(dirname(folder), EXTERNAL_BOLT_FILE);
    if (isFile(file))
      log.warn(
        { file },
        'ignoring the external configuration of the Go agent: its client has to send it again',
      );
  }
  // A damaged mirror is discarded, because etcd has its content. The local store is not: nothing
  // else has the attachments and addresses.
  const mirrorPath = mirrorFolder(folder, mirrorConfig['db-path']);
  let mirrorFault: string | undefined;
  const mirror =
    etcd &&
    (await openLevel(mirrorPath, mirrorConfig['lock-timeout'], parts, { isExpendable: true }).catch(
      (thrown: unknown) => {
        const error = errorText(thrown);
        mirrorFault = error;
        log.error({ folder: mirrorPath, error }, 'cannot open the mirror; continuing without it');
        return undefined;
      },
    ));
  const linux = kernelHost({ clock });
  const sockets = await openSockets(settings.service, linux, parts);
  // its programs use a map of services
  const flows = await openFlows(settings, linux, parts);
  // Its thread starts with the first call; until a handler needs it, the agent reads the database.
  void linux.dump(undefined).catch(() => undefined);
  const cluster = etcd ? await openEtcd(etcdOptions(etcd, env), clock) : local;
  return {
    cluster,
    local,
    mirror,
    localDisk: local,
    mirrorDisk: mirror,
    mirrorFault,
    external,
    externalDisk: external,
    connectVpp: unixConnect(settings.govpp['binapi-socket-path'], clock),
    // contiv-init and the startup configuration of the manifest put both sockets into one folder.
    vppCliSocket: join(dirname(settings.govpp['binapi-socket-path']), 'cli.sock'),
    vppStatistics: undefined,
    vppNamespaces: undefined,
    linux,
    keyFile: keyFile(`${folder}.wireguard-keys`),
    socketTable: sockets.table,
    socketFault: sockets.fault,
    flowSource: flows.source,
    flowFault: flows.fault,
    prepareHost: (needs) => prepareHost(thisMachine(clock), needs),
    addNamespace: undefined,
    close: async () => {
      if (cluster !== local) await cluster.close();
      await mirror?.close();
      await external?.close();
      await local.close();
    },
  };
}

/** Without the table VPP has all services: a node that was upgraded must not fail by it. */
async function openSockets(
  { socketServices: sysFs, disableSocketServices }: Settings['service'],
  sockets: DatagramSockets & NamespaceCookies,
  { clock, random, loggers }: EnvironmentDeps,
): Promise<{ readonly table?: SocketTable; readonly fault?: string }> {
  if (sysFs === '') return {};
  const log = loggers.get('linux');
  try {
    if (disableSocketServices) {
      removeSocketTable(sysFs);
      return {};
    }
    const hostNamespace = await hostCookie(sockets);
    return { table: openSocketTable(sysFs, { clock, random, sockets, hostNamespace, log }) };
  } catch (thrown) {
    if (!(thrown instanceof SocketServicesUnavailableError)) throw thrown;
    const { message, remedy } = thrown;
    log.warn({ error: message, remedy }, 'no services at sockets');
    return { fault: problemText(thrown) };
  }
}

/** An agent without flows forwards packets as ever. */
async function openFlows(
  { service: { socketServices: sysFs }, flows: { disableFlows } }: Settings,
  linux: NamespaceCookies & SeenConnections,
  { clock, loggers }: EnvironmentDeps,
): Promise<{ readonly source?: FlowSource; readonly fault?: string }> {
  if (sysFs === '') return {};
  try {
    if (disableFlows) {
      removeFlowSource(sysFs);
      return {};
    }
    const hostNamespace = await hostCookie(linux);
    return { source: openFlowSource(sysFs, { hostNamespace, connections: linux, clock }) };
  } catch (thrown) {
    if (!(thrown instanceof FlowsUnavailableError)) throw thrown;
    const { message, remedy } = thrown;
    loggers.get('flows').warn({ error: message, remedy }, 'no flows');
    return { fault: problemText(thrown) };
  }
}

/** undefined: the kernel does not report it (before 5.14). */
async function hostCookie(namespaces: NamespaceCookies): Promise<bigint | undefined> {
  try {
    return await namespaces.namespaceCookie(undefined);
  } catch (thrown) {
    if (thrown instanceof LinuxError) return undefined;
    throw thrown;
  }
}

/** A database of the Go agent is not needed: it is a copy of etcd. */
function localFolder(path: string, log: Logger): string {
  for (const file of new Set([path, join(dirname(path), BOLT_FILE)]))
    if (isFile(file)) log.warn({ file }, 'ignoring the database of the Go agent');
  return levelFolder(path);
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
}
