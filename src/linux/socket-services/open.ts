import { existsSync, statfsSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock, Random } from '#infra/clock/clock.ts';
import { defineError, errorText } from '#infra/errors/errors.ts';
import type { Logger } from '#infra/log/log.ts';
import { liftLockedMemoryLimit } from '../bpf/locked-memory.ts';
import { Refusal } from '../netlink/refusal.ts';
import type { SocketTable } from './api.ts';
import { Installation, uninstall } from './installation.ts';
import { KernelSocketTable, type NamespaceCookies } from './kernel-table.ts';
import { type DatagramSockets, StaleSockets } from './stale-sockets.ts';

/** Of the agent, in the bpf file system. */
const FOLDER = 'contiv-vswitch';

/** Types of file systems, of `statfs(2)`. */
const CGROUP2 = 0x6367_7270;
const BPF = 0xcafe_4a11;

export const SocketServicesUnavailableError = defineError({
  name: 'SocketServicesUnavailableError',
  code: 'CV_SOCKET_SERVICES_UNAVAILABLE',
  isRetriable: false,
  unavailable: 'environment',
  remedy:
    'NAT44 of VPP carries all services of this node; if its pods have addresses of IPv6, it has none. For services at the socket the agent needs Linux 5.10 or later, CAP_BPF and CAP_NET_ADMIN (or CAP_SYS_ADMIN), before Linux 5.11 CAP_SYS_RESOURCE, too, a bpf file system, and the control groups of version 2 of the host, as the manifest mounts them; then restart the agent.',
});

export interface SocketTableDeps {
  readonly clock: Clock;
  readonly random: Random;
  readonly sockets: DatagramSockets & NamespaceCookies;
  /** Cookie of the network namespace of the host; undefined: unknown. */
  readonly hostNamespace: bigint | undefined;
  readonly log: Logger;
}

/**
 * The table of this machine's kernel; programs and maps of an earlier agent are taken over. Where that fails they are
 * removed: nothing would keep their backends up to date.
 * @param sysFs the folder /sys/fs of the machine
 * @throws SocketServicesUnavailableError
 */
export function openSocketTable(sysFs: string, deps: SocketTableDeps): SocketTable {
  const folder = join(sysFs, 'bpf', FOLDER);
  const isLimited = !isLockedMemoryLifted();
  try {
    return open(sysFs, folder, deps);
  } catch (thrown) {
    try {
      uninstall(folder);
    } catch (cause) {
      const error = errorText(cause);
      deps.log.error(
        { folder, error },
        'cannot remove services at sockets: their backends are outdated',
      );
    }
    const isRefused =
      thrown instanceof Refusal || (thrown as NodeJS.ErrnoException).syscall !== undefined;
    if (!isRefused) throw thrown;
    const text = errorText(thrown) + (isLimited ? limitText(thrown) : '');
    throw new SocketServicesUnavailableError(text, { where: folder, cause: thrown });
  }
}

/** Newer kernels do not need it: that the limit stays is a fault only if the kernel refuses a map. */
function isLockedMemoryLifted(): boolean {
  try {
    liftLockedMemoryLimit();
    return true;
  } catch (thrown) {
    if (!(thrown instanceof Refusal)) throw thrown;
    return false;
  }
}

/** A possible cause of a refusal. */
function limitText(thrown: unknown): string {
  return thrown instanceof Refusal && thrown.errno === 'EPERM'
    ? '; before Linux 5.11 maps and programs count as locked memory, whose limit the agent cannot lift without CAP_SYS_RESOURCE'
    : '';
}

/**
 * Removes what an earlier agent has left in the kernel.
 * @param sysFs the folder /sys/fs of the machine
 * @throws SocketServicesUnavailableError: it may still be there
 */
export function removeSocketTable(sysFs: string): void {
  const folder = join(sysFs, 'bpf', FOLDER);
  try {
    uninstall(folder);
  } catch (cause) {
    const text = `what an earlier agent has left was not removed: ${errorText(cause)}`;
    throw new SocketServicesUnavailableError(text, { where: folder, cause });
  }
}

function open(
  sysFs: string,
  folder: string,
  { clock, random, sockets, hostNamespace, log }: SocketTableDeps,
): SocketTable {
  const bpf = join(sysFs, 'bpf');
  if (typeOf(bpf) !== BPF) throw unsuitable(bpf, 'a bpf file system');
  const group = groupOf(join(sysFs, 'cgroup'));
  const installation = new Installation({ folder, group, hostNamespace });
  const { maps } = installation;
  const stale = new StaleSockets({
    sockets,
    connections: maps.connections,
    isStale: ({ service, backend }) => !table.hasDatagramBackend(service, backend),
    clock,
    random,
    log,
  });
  const table = new KernelSocketTable({
    maps,
    namespaces: sockets,
    clock,
    programs: installation,
    packets: installation.packets,
    stale,
  });
  if (!installation.areActive)
    log.info(
      { folder },
      'services at sockets: programs of an earlier release continue until the first resync has filled the table',
    );
  return table;
}

/** With control groups of both versions, those of version 2 are in a folder of the others. */
function groupOf(group: string): string {
  const found = [group, join(group, 'unified')].find((one) => typeOf(one) === CGROUP2);
  if (found === undefined) throw unsuitable(group, 'control groups of version 2');
  return found;
}

function typeOf(folder: string): number | undefined {
  return existsSync(folder) ? statfsSync(folder).type : undefined;
}

function unsuitable(folder: string, name: string): Error {
  return new SocketServicesUnavailableError(`${folder} is not in ${name}`);
}
