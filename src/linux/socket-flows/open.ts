import { join } from 'node:path';
import type { Clock } from '#infra/clock/clock.ts';
import { defineError, errorText } from '#infra/errors/errors.ts';
import { bpfFolder, bpfPlaces } from '../bpf/file-systems.ts';
import { isLockedMemoryLifted, lockedMemoryText } from '../bpf/locked-memory.ts';
import { RingBuffer } from '../bpf/ring-buffer.ts';
import { Refusal } from '../netlink/refusal.ts';
import { openServiceMaps } from '../socket-services/open.ts';
import type { FlowSource } from './api.ts';
import { FlowCounters } from './counters.ts';
import { FlowInstallation, uninstallFlows } from './installation.ts';
import { KernelFlows, type SeenConnections } from './kernel-flows.ts';
import { flowShapes } from './layout.ts';

/** Of the agent, in the bpf file system. */
const FOLDER = 'contiv-vswitch-flows';

export const FlowsUnavailableError = defineError({
  name: 'FlowsUnavailableError',
  code: 'CV_FLOWS_UNAVAILABLE',
  isRetriable: false,
  unavailable: 'environment',
  remedy:
    'Packets are forwarded as ever; GET /contiv/v1/flows stays empty on this node. The agent needs what services at sockets need: Linux 5.10 or later, CAP_BPF and CAP_NET_ADMIN (or CAP_SYS_ADMIN), a bpf file system, and the control groups of version 2 of the host, as the manifest mounts them; then restart the agent. To have no flows, set disableFlows.',
});

export interface FlowSourceDeps {
  /** Cookie of the network namespace of the host; undefined: unknown. */
  readonly hostNamespace: bigint | undefined;
  readonly connections: SeenConnections;
  readonly clock: Clock;
}

/**
 * The connections of this machine's kernel; programs and maps of an earlier agent are taken over.
 * @param sysFs the folder /sys/fs of the machine
 * @throws FlowsUnavailableError: nothing is left in the kernel, as far as it can be removed
 */
export function openFlowSource(
  sysFs: string,
  { hostNamespace, connections, clock }: FlowSourceDeps,
): FlowSource {
  const folder = join(bpfFolder(sysFs), FOLDER);
  const isLimited = !isLockedMemoryLifted();
  try {
    const places = bpfPlaces(sysFs);
    if (typeof places === 'string') throw new FlowsUnavailableError(places);
    const installation = new FlowInstallation({
      folder,
      group: places.group,
      openServices: () => openServiceMaps(sysFs),
    });
    const { events, counters, states, conversations } = installation.maps;
    const ring = new RingBuffer(events.file, flowShapes.events.maxEntries);
    return new KernelFlows({
      installation,
      ring,
      counters: new FlowCounters(counters),
      states,
      conversations,
      connections,
      hostNamespace,
      clock,
    });
  } catch (thrown) {
    if (thrown instanceof FlowsUnavailableError) throw thrown;
    const isRefused =
      thrown instanceof Refusal || (thrown as NodeJS.ErrnoException).syscall !== undefined;
    if (!isRefused) throw thrown;
    const texts = [errorText(thrown) + (isLimited ? lockedMemoryText(thrown) : '')];
    try {
      uninstallFlows(folder);
    } catch (cause) {
      texts.push(`what an earlier agent has left was not removed: ${errorText(cause)}`);
    }
    throw new FlowsUnavailableError(texts.join('; '), { where: folder, cause: thrown });
  }
}

/**
 * Removes what an earlier agent has left in the kernel.
 * @param sysFs the folder /sys/fs of the machine
 * @throws FlowsUnavailableError: it may still be there
 */
export function removeFlowSource(sysFs: string): void {
  const folder = join(bpfFolder(sysFs), FOLDER);
  try {
    uninstallFlows(folder);
  } catch (cause) {
    const text = `what an earlier agent has left was not removed: ${errorText(cause)}`;
    throw new FlowsUnavailableError(text, { where: folder, cause });
  }
}
