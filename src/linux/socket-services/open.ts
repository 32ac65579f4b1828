import { join } from 'node:path';
import type { Clock, Random } from '#infra/clock/clock.ts';
import { defineError, errorText } from '#infra/errors/errors.ts';
import type { Logger } from '#infra/log/log.ts';
import { bpfFolder, bpfPlaces } from '../bpf/file-systems.ts';
import { isLockedMemoryLifted, lockedMemoryText } from '../bpf/locked-memory.ts';
import type { BpfMap } from '../bpf/map.ts';
import { Refusal } from '../netlink/refusal.ts';
import type { SocketTable } from './api.ts';
import {
  type AskedServiceMaps,
  Installation,
  openAskedServices,
  uninstall,
} from './installation.ts';
import { KernelSocketTable, type NamespaceCookies } from './kernel-table.ts';
import { type DatagramSockets, StaleSockets } from './stale-sockets.ts';

/** Of the agent, in the bpf file system. */
const FOLDER = 'contiv-vswitch';

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
  const folder = join(bpfFolder(sysFs), FOLDER);
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
    const text = errorText(thrown) + (isLimited ? lockedMemoryText(thrown) : '');
    throw new SocketServicesUnavailableError(text, { where: folder, cause: thrown });
  }
}

/**
 * The maps from which others learn which service a client has asked.
 * @returns undefined: there are none
 */
export function openServiceMaps(sysFs: string): AskedServiceMaps<BpfMap> | undefined {
  return openAskedServices(join(bpfFolder(sysFs), FOLDER));
}

/**
 * Removes what an earlier agent has left in the kernel.
 * @param sysFs the folder /sys/fs of the machine
 * @throws SocketServicesUnavailableError: it may still be there
 */
export function removeSocketTable(sysFs: string): void {
  const folder = join(bpfFolder(sysFs), FOLDER);
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
  const places = bpfPlaces(sysFs);
  if (typeof places === 'string') throw new SocketServicesUnavailableError(places);
  const installation = new Installation({ folder, group: places.group, hostNamespace });
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
